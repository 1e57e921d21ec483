"""Batches of a queue."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import TextClause, text

from app.core import clock
from app.core.database import session, transaction
from app.events import service as events
from app.evidence import counts as evidence
from app.interactions import service as interactions
from app.ledger import counts as ledger
from app.summaries import service as summaries

VALUES = {"batch_size": 500, "consumer": "webhooks", "max_senders": 100, "exports_reviews": False}


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        (events._TAKE, "events"),
        (events._LEASE, "events"),
        (evidence._MOVE, "evidence_changes"),
        (ledger._MOVE, "ledger_changes"),
        (interactions._PROMOTE, "promotions"),
        (summaries._MOVE, "interaction_changes"),
    ],
    ids=["take", "lease", "evidence", "ledger", "promotions", "interactions"],
)
def test_a_batch_of_a_queue_is_found_by_its_addresses_whatever_the_statistics_say(
    app: Flask, statement: TextClause, table: str
) -> None:
    values = {**VALUES, "now": clock.now(), "leased_until": clock.now()}
    explain = text(f"EXPLAIN (FORMAT JSON) {statement.text}")
    with transaction():
        # As for a table of more than a few pages.
        session().execute(text("SET LOCAL enable_seqscan = off"))
        parameters = {name: values[name] for name in statement._bindparams}
        (explanation,) = session().execute(explain, parameters).scalar_one()
    assert ("Tid Scan", table) in scans(explanation["Plan"])


def scans(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the type and the table of each scan."""
    if "Relation Name" in plan:
        yield plan["Node Type"], plan["Relation Name"]
    for part in plan.get("Plans", []):
        yield from scans(part)
