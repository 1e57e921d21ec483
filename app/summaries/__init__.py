"""Day counts of interactions."""
