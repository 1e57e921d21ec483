"""Webhooks by the Standard Webhooks specification: endpoints, deliveries and their log."""
