"""The Celery app, its schedule and its tasks."""
