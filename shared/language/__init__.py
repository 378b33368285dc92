"""Words and languages: what a text is about, and what the bot says."""
