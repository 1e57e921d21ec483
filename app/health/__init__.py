"""Health of the process, and of the servers and jobs that it depends on."""
