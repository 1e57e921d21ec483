"""The evidence exporter, which sends what access logs hold on AI agents, without addresses, paths and user agents."""
