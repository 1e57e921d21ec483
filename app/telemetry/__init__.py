"""From an accepted batch to interactions."""
