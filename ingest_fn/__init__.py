"""Takes an event of Google Chat, registers the question, and publishes it with its history to `questions`."""
