"""Telemetry: accept batches, and persist them as interactions."""
