"""What the operator view of the chat page works with: the same code as `python -m ops`."""
