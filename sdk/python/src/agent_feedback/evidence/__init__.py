"""The evidence exporter: what access logs tell of AI agents, without addresses, paths, queries or user agents."""
