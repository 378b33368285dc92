"""Receiving requests, and calling outside services."""
