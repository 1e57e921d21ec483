"""Retrieval: the signals of a customer that a company may use now."""
