"""Google Chat: its events, its API, and what the bot shows there."""
