"""A Firestore on loopback: the calls the Python SDK makes, production's refusals, one SQLite file."""
