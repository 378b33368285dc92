"""Languages: detecting them, finding the words that matter, and the texts of the bot."""
