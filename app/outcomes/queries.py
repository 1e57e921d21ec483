"""Read reviews."""

from app.interactions.feed import Feed

REVIEWS = Feed("reviews", outcome="outcome", note="note")
