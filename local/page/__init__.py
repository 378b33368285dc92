"""The chat page: static files for a browser, drawn after Google Chat, and the routes that serve them."""
