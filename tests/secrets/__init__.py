"""Rotation of the secrets of the service."""
