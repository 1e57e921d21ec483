"""Bounds of a report; the published `reportSchema` is made from the same numbers."""

IMPACTS = ("helped", "helped_with_friction", "neutral", "hindered", "blocked", "unknown")
KINDS = ("strength", "friction", "defect", "gap", "suggestion", "uncertainty", "other")
SEVERITIES = ("minor", "major", "blocking")

MIN_SUMMARY_LENGTH, MAX_SUMMARY_LENGTH = 8, 700
MIN_DETAIL_LENGTH, MAX_DETAIL_LENGTH = 3, 350
MAX_FINDINGS = 8
TOPIC_PATTERN = "^[a-z0-9][a-z0-9_-]{0,63}$"
MAX_TOPIC_LENGTH = 64
