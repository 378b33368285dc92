"""Firestore on loopback: the calls that the bot and its operators make, and production's refusals."""
