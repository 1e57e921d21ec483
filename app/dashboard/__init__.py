"""Pages for people, and what they read."""
