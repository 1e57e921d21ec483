"""Rules of triage: kinds of feedback, and the states."""

REVIEW, REPORT = KINDS = ("review", "report")

NEW = "new"
STATES = (NEW, "investigating", "resolved", "wont_act")
"""Of feedback that nobody has triaged there is no row: it is new."""

MAX_NEW_SCAN = 1_000
"""How many of the newest reviews, and of the newest reports, are looked at to count those that are new."""

MAX_COMMENT_LENGTH = 2_000
MAX_COMMENTS = 200
"""How many comments one review or report can have."""
