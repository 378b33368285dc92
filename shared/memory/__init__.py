"""The documents in Firestore, and how long they are kept."""
