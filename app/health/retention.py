"""Retention rules of job runs: none, since each job has one row."""

from app.core.retention import RetentionRule

RULES: tuple[RetentionRule, ...] = ()

TABLES_WITHOUT_RULES = {"job_runs": "one row for each job, updated by each run"}
