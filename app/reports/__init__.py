"""Reports: concrete findings of an agent about a product response."""
