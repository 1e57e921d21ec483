"""Reviews: an outcome and one sentence about a product response."""
