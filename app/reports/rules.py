"""What a report may say; the published `reportSchema` is made from the same numbers."""

IMPACTS = ("helped", "helped_with_friction", "neutral", "hindered", "blocked", "unknown")
KINDS = ("strength", "friction", "defect", "gap", "suggestion", "uncertainty", "other")
SEVERITIES = ("minor", "major", "blocking")

SHORTEST_SUMMARY, LONGEST_SUMMARY = 8, 700
SHORTEST_DETAIL, LONGEST_DETAIL = 3, 350
MOST_FINDINGS = 8
TOPIC_PATTERN = "^[a-z0-9][a-z0-9_-]{0,63}$"
LONGEST_TOPIC = 64
