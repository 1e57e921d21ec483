"""What a review may say."""

OUTCOMES = ("success", "partial", "failure")
SHORTEST_NOTE = 8
LONGEST_NOTE = 500
"""In code points, after white space is folded."""
