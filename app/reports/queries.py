"""Read reports."""

from app.interactions.feed import Feed

REPORTS = Feed("reports", outcome="impact", note="summary")
