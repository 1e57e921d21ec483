"""The fields that a product may ask a customer's agent for."""
