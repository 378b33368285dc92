"""Cloud Storage on loopback: what `python -m ops knowledge` and RAG Engine's import need of it."""
