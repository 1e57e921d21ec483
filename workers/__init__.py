"""The Celery side: a timetable, and tasks of two lines."""
