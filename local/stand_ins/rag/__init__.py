"""RAG Engine on loopback: corpora, their files, and a search that compares words."""
