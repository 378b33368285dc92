"""Starts the small cloud and the functions on this machine, and asks them questions."""
