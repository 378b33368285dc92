"""The operators' tools: see, understand and replay dead letters (`python -m ops`)."""
