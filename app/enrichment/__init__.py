"""Questions to a customer's agent, and its answers."""
