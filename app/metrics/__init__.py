"""The endpoint that monitoring reads the metrics from."""
