"""Every family of metrics, by name. Only what is declared here can be counted, read or named in an alert.

A family is either counted, by the process in which something happens, or read from the database or the broker when
somebody asks for the metrics. Names end in their unit, as Prometheus has it; values of labels are few and known. No
label is called `job` or `instance`: Prometheus adds these, and would rename ours.
"""

from dataclasses import dataclass, field
from enum import StrEnum

REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
WAIT_BUCKETS_S = (0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1.0, 2.5)
JOB_BUCKETS_S = (0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Stored with the runs of a job: a change needs a migration."""


class Kind(StrEnum):
    """The type of a metric, as Prometheus calls it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """Metrics of one name, which differ in the values of their labels."""

    kind: Kind
    name: str
    description: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    is_counted: bool = field(default=False, kw_only=True)
    """Whether processes count it; otherwise it is read when somebody asks."""


FAMILIES: dict[str, Family] = {}


def _declare(family: Family) -> Family:
    FAMILIES[family.name] = family
    return family


def _counted(name: str, description: str, *labels: str) -> Family:
    return _declare(Family(Kind.COUNTER, name, description, labels, is_counted=True))


def _timed(name: str, description: str, buckets: tuple[float, ...], *labels: str) -> Family:
    return _declare(Family(Kind.HISTOGRAM, name, description, labels, buckets, is_counted=True))


def _read(name: str, description: str, *labels: str, kind: Kind = Kind.GAUGE) -> Family:
    return _declare(Family(kind, name, description, labels))


REQUESTS = _counted("agent_feedback_requests_total", "Requests, by the rule of their URL.", "route", "method", "status")
REQUEST_DURATION = _timed(
    "agent_feedback_request_duration_seconds",
    "Time from the arrival of a whole request to its response.",
    REQUEST_BUCKETS_S,
    "route",
    "method",
)
REFUSALS = _counted("agent_feedback_refusals_total", "Error responses, by the code in their body.", "code", "status")
SCREENING_REFUSALS = _counted("agent_feedback_screening_refusals_total", "Texts that a screening rule refused.", "rule")
LIMITS_HIT = _counted("agent_feedback_limits_hit_total", "Requests that a limit refused.", "limit")
QUOTAS_HIT = _counted("agent_feedback_quotas_hit_total", "Requests that a quota refused.", "quota")
SIGN_IN_FAILURES = _counted("agent_feedback_sign_in_failures_total", "Failed attempts to sign in.", "reason")

POOL_WAIT = _timed(
    "agent_feedback_pool_wait_seconds",
    "Time until the pool gave a connection, opening and testing it included.",
    WAIT_BUCKETS_S,
)
POOL_TIMEOUTS = _counted("agent_feedback_pool_timeouts_total", "Waits for a connection of the pool that were in vain.")
POOL_USED = _declare(
    Family(Kind.GAUGE, "agent_feedback_pool_used_connections", "Connections of the pools in use.", is_counted=True)
)

BUILD = _read("agent_feedback_build_info", "The release, as a label; always 1.", "version")
DATABASE_UP = _read("agent_feedback_database_up", "1 if the database answered, else 0.")
BROKER_UP = _read("agent_feedback_broker_up", "1 if the broker answered, else 0.")
PROCESS_UP = _read("agent_feedback_process_up", "1 if worker or beat was seen within three sweeps, else 0.", "process")

INBOX_ROWS = _read("agent_feedback_inbox_rows", "Telemetry batches that wait to be persisted, counted to 100,000.")
INBOX_OLDEST_AGE = _read("agent_feedback_inbox_oldest_age_seconds", "Age of the oldest of them; 0 without any.")
PARKED_BATCHES = _read("agent_feedback_parked_batches", "Telemetry batches that cannot be persisted, to 100,000.")
OUTBOX_ROWS = _read("agent_feedback_outbox_rows", "Rows that wait for their job, counted to 100,000.", "outbox")
OUTBOX_OLDEST_AGE = _read(
    "agent_feedback_outbox_oldest_age_seconds", "Age of the oldest of them; 0 without any.", "outbox"
)

WEBHOOK_ENDPOINTS = _read(
    "agent_feedback_webhook_endpoints",
    "Endpoints of webhooks; failing is one whose last attempt failed, while it is not disabled.",
    "state",
)

JOB_DURATION = _declare(
    Family(
        Kind.HISTOGRAM,
        "agent_feedback_job_duration_seconds",
        "Duration of the runs of a job, failed ones included.",
        ("job_name",),
        JOB_BUCKETS_S,
    )
)
JOB_FAILURES = _read("agent_feedback_job_failures_total", "Runs that failed.", "job_name", kind=Kind.COUNTER)
JOB_LAST_START = _read("agent_feedback_job_last_start_timestamp_seconds", "The last start.", "job_name")
JOB_LAST_SUCCESS = _read("agent_feedback_job_last_success_timestamp_seconds", "The last success.", "job_name")
JOB_LAST_FAILURE = _read("agent_feedback_job_last_failure_timestamp_seconds", "The last failure.", "job_name")
JOB_PERIOD = _read("agent_feedback_job_period_seconds", "The period of the job's schedule.", "job_name")
JOB_LAG = _read(
    "agent_feedback_job_lag_seconds", "Time since a success was due; 0 for a job that is in time.", "job_name"
)
