"""Products, environments and keys."""
