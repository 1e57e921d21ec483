"""Telemetry: the queue of events, and the account of what became of each."""
