"""Measures the quality of rewriting, search and answers: `python -m evaluation`, `make eval`."""
