"""Where everything is: two documents and the SDK downloads."""
