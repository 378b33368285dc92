"""Takes a question, rewrites a follow-up so that it stands alone, and publishes the query to `queries`."""
