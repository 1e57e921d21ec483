"""Bounds of a review."""

OUTCOMES = ("success", "partial", "failure")
MIN_NOTE_LENGTH = 8
MAX_NOTE_LENGTH = 500
"""In code points, after white space is folded."""
