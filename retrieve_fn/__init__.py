"""Takes a search query, searches Vertex AI RAG Engine, and publishes the passages to `findings`."""
