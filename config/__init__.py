"""What every process starts from, without the app: settings, logging, gunicorn, the names of jobs, and data files."""
