"""Discovery documents and SDK downloads."""
