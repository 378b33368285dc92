"""The data that passes through the pipeline: envelopes, endings and dead letters."""
