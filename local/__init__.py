"""The small cloud on loopback: what the functions' SDKs talk to when there is no Google Cloud."""
