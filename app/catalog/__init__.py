"""The catalog: the fields that a product may request from a customer's agent."""
