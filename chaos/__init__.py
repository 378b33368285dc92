"""Thousands of questions while everything breaks, and a checker that looks only from outside."""
