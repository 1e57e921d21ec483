"""Requests for context to a customer's agent, and its answers."""
