"""Metrics: their families, and counting in this process where somebody may read them."""
