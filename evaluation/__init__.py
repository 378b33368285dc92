"""Measures how well questions are rewritten, found and answered: `python -m evaluation`, `make eval`."""
