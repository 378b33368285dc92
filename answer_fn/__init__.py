"""Takes findings, has Gemini answer the original question from them, posts the answer and saves the turn."""
