"""Traces of requests and jobs, sent to a collector where one is configured."""
