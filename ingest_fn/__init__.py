"""Takes a Chat event, notes the question and its history, gives a `Question` on `questions`."""
