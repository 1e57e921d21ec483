"""What ids, variants and outcomes may be."""

EXTERNAL_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.:-]{0,99}$"
LONGEST_EXTERNAL_ID = 100
MOST_SIGNALS = 50
OUTCOMES = ("conversion", "completion", "engagement", "dismissal", "abandonment")
