"""The read API: reviews, reports, interactions and operations by pages."""
