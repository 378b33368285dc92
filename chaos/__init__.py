"""Asks thousands of questions while services fail. A checker then looks at the results from outside."""
