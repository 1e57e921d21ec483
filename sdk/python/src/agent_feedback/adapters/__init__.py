"""Adapters, which put the SDK around the frameworks of products."""
