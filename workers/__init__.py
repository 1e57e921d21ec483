"""The Celery app: a schedule, and tasks of two lines."""
