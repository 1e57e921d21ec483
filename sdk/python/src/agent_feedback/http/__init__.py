"""Requests to the service: the one client, its connections, its backoff and its circuit breaker."""
