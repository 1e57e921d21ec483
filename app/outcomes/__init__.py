"""Reviews: how it went, in one sentence."""
