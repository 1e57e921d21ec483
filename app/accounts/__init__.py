"""Workspaces, the people in them, and what they changed."""
