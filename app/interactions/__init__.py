"""The subject everything hangs on: product responses, their sessions, and their promotion."""
