"""Personalization decisions and their outcomes."""
