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

ACROSS_TENANTS = {
    ("find_request", "enrichment_requests"): "a handle names its request before the tenant is known",
    ("telemetry.persistence.persist_waiting_batches", "telemetry_inbox"): _JOB,
    ("interactions.service.promote_queued_interactions", "promotions"): _JOB,
    ("interactions.service.promote_queued_interactions", "interactions"): _JOB,
    ("summaries.service.roll_up_marked_days", "day_marks"): _JOB,
    ("evidence.counts._move", "evidence_changes"): _JOB,
    ("customers.linking.link", "enrichment_requests"): _CUSTOMER,
    ("customers.erasure.erase", "enrichment_requests"): _CUSTOMER,
    ("enrichment.revocation.revoke", "enrichment_requests"): _CUSTOMER,
    ("enrichment.revocation.close_requests", "enrichment_requests"): _CUSTOMER,
    ("enrichment.revocation.supersede", "enrichment_requests"): "the requests that a product's signals answered",
    ("retention.customers._rows", "enrichment_requests"): _CUSTOMER,
    ("retention.service._forget_customers", "enrichment_requests"): _CUSTOMER,
    ("secrets.report._aggregate", "customer_references"): _COMMAND,
    ("secrets.report._aggregate", "customer_choices"): _COMMAND,
}
"""The function or the prepared statement, and the table."""


OF_TWO_TENANTS = {
    "retrieve_context": "whose interaction it was, and what may be said of that customer, at one moment",
    "enrichment.revocation.supersede": "a replaced signal expires with the request that it answered",
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
