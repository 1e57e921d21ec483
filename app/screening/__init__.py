"""Screening of free text for secrets and personal data."""
