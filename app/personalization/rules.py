"""Bounds of ids and signals, and the outcomes."""

EXTERNAL_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$"
MAX_EXTERNAL_ID_LENGTH = 100
MAX_SIGNALS = 50
OUTCOMES = ("conversion", "completion", "engagement", "dismissal", "abandonment")

POSITIVE_OUTCOMES = ("conversion", "completion", "engagement")
"""What a decision is made for; the other outcomes are negative."""
