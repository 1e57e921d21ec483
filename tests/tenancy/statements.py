"""Which statements may read a tenant table without its tenant, and why."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, field

import psycopg2

from tests.tenancy.plans import explain, tables_without_tenant, tenants_of
from tests.tenancy.recorder import Statement

GENERIC_PLANS_SINCE = 160_000

_JOB = "a job takes the oldest rows of all tenants; on shards it would run once for each"
_CUSTOMER = "a customer's requests in every environment of the product, by the index on product and customer"
_COMMAND = "a command of the operator counts what remains under older secrets in the whole copy"
_LIST = "a command of the operator lists those of the whole copy"
_NAMED_BY_ID = "a command of the operator names it by its id alone"
_METRICS = "the metrics of the whole copy"

ACROSS_TENANTS = {
    ("find_request", "enrichment_requests"): "a handle names its request before the tenant is known",
    ("telemetry.persistence.persist_waiting_batches", "telemetry_inbox"): _JOB,
    ("interactions.service.promote_queued_interactions", "promotions"): _JOB,
    ("interactions.service.promote_queued_interactions", "interactions"): _JOB,
    ("interactions.service.promote_queued_interactions", "reviews"): _JOB,
    ("interactions.service.promote_queued_interactions", "event_subscriptions"): _JOB,
    ("summaries.service._move_changes", "interaction_changes"): _JOB,
    ("interactions.uncounted_days.list_uncounted_days", "uncounted_days"): _JOB,
    ("cli.migrations.upgrade", "interaction_days"): "a migration has every day counted anew, once",
    ("evidence.counts._move", "evidence_changes"): _JOB,
    ("ledger.counts.roll_up_changes", "ledger_changes"): _JOB,
    ("ledger.counts.roll_up_changes", "ledger_days"): _JOB,
    ("events.service.take", "events"): _JOB,
    ("events.service.lease", "events"): _JOB,
    ("events.service.notify_webhooks", "events"): "whether the job of all tenants has anything to do",
    ("webhooks.due.claim_due", "webhook_endpoints"): _JOB,
    ("webhooks.due.claim_due", "webhook_deliveries"): _JOB,
    ("webhooks.log.fail_expired", "webhook_deliveries"): _JOB,
    ("webhooks.service.forget_old_secrets", "webhook_endpoints"): _JOB,
    ("retention.service._remove", "invitations"): _JOB,
    ("webhooks.service.list_endpoints", "webhook_endpoints"): _LIST,
    ("webhooks.log.list_deliveries", "webhook_deliveries"): _LIST,
    ("webhooks.service.get_endpoint", "webhook_endpoints"): _NAMED_BY_ID,
    ("webhooks.log.replay", "webhook_deliveries"): _NAMED_BY_ID,
    ("core.metrics.queries.find_waiting_rows", "telemetry_inbox"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "promotions"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "interaction_changes"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "uncounted_days"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "evidence_changes"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "ledger_changes"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "events"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "webhook_deliveries"): _METRICS,
    ("core.metrics.queries.find_waiting_rows", "webhook_endpoints"): _METRICS,
    ("webhooks.metrics.read_metrics", "webhook_endpoints"): _METRICS,
    ("customers.linking.link", "enrichment_requests"): _CUSTOMER,
    ("customers.erasure.erase", "enrichment_requests"): _CUSTOMER,
    ("enrichment.revocation.revoke", "enrichment_requests"): _CUSTOMER,
    ("enrichment.revocation.close_requests", "enrichment_requests"): _CUSTOMER,
    ("store_answer", "enrichment_requests"): "a replaced signal expires with the request that it answered",
    ("retention.customers._lines", "enrichment_requests"): _CUSTOMER,
    ("enrichment.queries.list_requests", "enrichment_requests"): _CUSTOMER,
    ("retention.service._forget_customers", "enrichment_requests"): _CUSTOMER,
    ("secrets.report._aggregate", "customer_references"): _COMMAND,
    ("secrets.report._aggregate", "customer_choices"): _COMMAND,
    ("secrets.status._count_rows", "customer_references"): _COMMAND,
    ("secrets.status._count_rows", "customer_choices"): _COMMAND,
    (
        "secrets.sealing.read_batch",
        "webhook_endpoints",
    ): "commands of the operator open or reseal the secrets of the whole copy",
}
"""The function or the prepared statement, and the table."""


_REFUSAL = "a customer's refusal, made meanwhile, declines the request"

OF_TWO_TENANTS = {
    "retrieve_context_of_interaction": "whose interaction it was, and what may be said of that customer, at one moment",
    "prepare_request": "whether a request is stored, and what the catalog of its product asks for, in one round trip",
    "insert_request_with_interaction": "a request is stored unless its customer was linked or has declined meanwhile",
    "insert_request": "a request is stored with its customer, who is resolved and locked in the same statement",
    "apply_refusal": _REFUSAL,
    "enrichment.creation.store": _REFUSAL,
    "store_answer": "an answer becomes signals of its product and closes the request in one statement",
    "retention.service._forget_customers": "a customer is kept while a request names it",
}
"""What joins tables of an environment with tables of a product, which a distributed engine keeps in two places."""


@dataclass
class Findings:
    """What the statements of a run do."""

    across: dict[tuple[str, str], str] = field(default_factory=dict)
    """Statement and table: its SQL, where it reads the table without its tenant."""
    mixed: dict[str, str] = field(default_factory=dict)
    """Statement: its SQL, where its tables have two tenants."""


def examine(database_url: str, statements: Iterable[Statement]) -> Findings:
    """Explain statements on a database with all migrations."""
    findings = Findings()
    with closing(psycopg2.connect(database_url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        # A server that a developer names may be older; the embedded one is not.
        if connection.server_version < GENERIC_PLANS_SINCE:
            return findings
        for statement in statements:
            plan = explain(cursor, statement)
            for table in tables_without_tenant(plan):
                findings.across[statement.origin, table] = statement.sql
            if len(tenants_of(plan)) > 1:
                findings.mixed[statement.origin] = statement.sql
    return findings


def require_tenants(database_url: str, statements: Iterable[Statement]) -> None:
    """Raise `AssertionError` with every statement that lacks a tenant, or has two, and is not listed."""
    findings = examine(database_url, statements)
    sentences = [
        f"{origin} reads {table} without its tenant:\n{sql}"
        for (origin, table), sql in findings.across.items()
        if (origin, table) not in ACROSS_TENANTS
    ]
    sentences += [
        f"{origin} joins tables of an environment and of a product:\n{sql}"
        for origin, sql in findings.mixed.items()
        if origin not in OF_TWO_TENANTS
    ]
    assert not sentences, "\n\n".join([*sentences, "tests/tenancy/statements.py lists those that may."])
