"""Workspaces, users, login sessions and the audit log."""
