"""Takes a search query, asks Vertex AI RAG Engine, gives `contexts` on `findings`."""
