"""The names of the background jobs and their queues."""

from enum import StrEnum


class Job(StrEnum):
    """Every job of the service; the value is its name on the queue."""

    PERSIST_TELEMETRY = "telemetry.persist_batches"
    PROMOTE_INTERACTIONS = "interactions.promote_waiting"
    ROLL_UP_DAYS = "summaries.roll_up_days"
    EXPIRE_FEEDBACK = "retention.expire_feedback"
    EXPIRE_ENRICHMENT = "retention.expire_enrichment"
    EXPIRE_SIGN_INS = "retention.expire_sign_ins"
    ROLL_UP_EVIDENCE = "evidence.roll_up_days"
    EXPIRE_EVIDENCE = "evidence.expire_events"
    ROLL_UP_LEDGER = "ledger.roll_up_days"
    DELIVER_WEBHOOKS = "webhooks.deliver_due"
    EXPORT_REVIEWS = "evaluations.export_reviews"


QUEUES = {
    Job.PERSIST_TELEMETRY: "ingest",
    Job.PROMOTE_INTERACTIONS: "ingest",
    Job.ROLL_UP_DAYS: "upkeep",
    Job.EXPIRE_FEEDBACK: "upkeep",
    Job.EXPIRE_ENRICHMENT: "upkeep",
    Job.EXPIRE_SIGN_INS: "upkeep",
    Job.ROLL_UP_EVIDENCE: "upkeep",
    Job.EXPIRE_EVIDENCE: "upkeep",
    Job.ROLL_UP_LEDGER: "upkeep",
    Job.DELIVER_WEBHOOKS: "delivery",
    Job.EXPORT_REVIEWS: "delivery",
}
"""Upkeep takes long and may be delayed; jobs whose results customers see soon have a queue of their own, and so have
those that wait for the servers of others."""
