"""Limits of requests and quotas of what grows: counted in the process, shared through the broker's server."""
