"""What a company did with what it knew, and what came of it."""
