"""What it costs when there is much already: `python -m bench.growth`."""
