"""Pub/Sub on loopback: publishing, pulling, pushing, retries and dead letters."""
