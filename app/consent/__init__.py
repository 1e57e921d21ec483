"""Consent to feedback: decisions, introspection and receipts."""
