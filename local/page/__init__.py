"""The chat page, modelled on Google Chat: its static files, and the HTTP routes that it calls."""
