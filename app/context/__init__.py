"""Retrieval: what a company may use of a customer right now."""
