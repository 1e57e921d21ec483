"""Who may send feedback, and what they are told."""
