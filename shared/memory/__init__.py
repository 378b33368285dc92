"""What is kept in Firestore, and for how long."""
