"""Benchmarks. Each compares things that it measures side by side in one run."""
