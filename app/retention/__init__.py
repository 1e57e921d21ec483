"""Purging of expired rows, and erasure of customers and products."""
