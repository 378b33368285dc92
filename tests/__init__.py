"""The tests; their folders mirror the rooms of the code."""

from pathlib import Path

#: The root of the repository.
ROOT = Path(__file__).resolve().parent.parent
