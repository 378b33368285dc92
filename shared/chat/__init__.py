"""Google Chat: its events, its API, and the messages of the bot."""
