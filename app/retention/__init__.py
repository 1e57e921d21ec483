"""Which rows leave, when, and why."""
