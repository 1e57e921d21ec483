"""What is fast, measured against a limit in the same run: `python -m bench`."""
