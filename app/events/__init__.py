"""The transactional outbox of events, from which webhooks and exports are made."""
