"""What travels through the pipeline: envelopes, endings and dead letters."""
