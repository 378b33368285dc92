"""Takes the passages, asks Gemini to answer the question from them, posts the answer and saves the turn."""
