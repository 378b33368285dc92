"""Code that at least two of the four functions need."""
