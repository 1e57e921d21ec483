"""What callers present, and who may come in."""
