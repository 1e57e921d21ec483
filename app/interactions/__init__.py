"""Interactions (product responses), their sessions, and their promotion."""
