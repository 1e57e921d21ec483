"""Send batches as an SDK does, and read the ledger as an operator does."""

import json
import uuid
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.telemetry.persistence import persist_waiting_batches
from tests.factories import Company, bearer, event

BATCHES = "/api/v2/telemetry/batches"
PYTHON = "agent-feedback-python/1.2.3"


def batch_headers(batch_id: uuid.UUID | None = None, **headers: str) -> dict[str, str]:
    """Return the headers of a batch of the SDK, named without their prefix."""
    named = {f"Agent-Feedback-{name.capitalize()}": value for name, value in headers.items()}
    return {"User-Agent": PYTHON, **({"Agent-Feedback-Batch": str(batch_id)} if batch_id else {}), **named}


def send(
    client: FlaskClient, company: Company, events: list[dict[str, Any]] | int = 1, headers: dict[str, str] | None = None
) -> TestResponse:
    """Send events, or a number of new ones, without persisting them."""
    body = {"events": [event() for _ in range(events)] if isinstance(events, int) else events}
    sent_headers = {**(batch_headers() if headers is None else headers), **bearer(company.product_key)}
    return client.post(BATCHES, json=body, headers=sent_headers)


def ledger(app: Flask, company: Company, *options: str) -> list[dict[str, Any]]:
    """Persist what waits, and return the rows of the ledger."""
    persist_waiting_batches()
    arguments = ["ledger", "show", "--environment", str(company.environment_id), "--json", *options]
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == 0, result.output
    rows: list[dict[str, Any]] = json.loads(result.output)
    return rows


def counts(app: Flask, company: Company) -> dict[str, Any]:
    """Return what is not zero of the only row."""
    rows = ledger(app, company)
    assert len(rows) <= 1
    names = ("accepted", "duplicate", "expired", "refused", "lost")
    return {name: row[name] for row in rows for name in names if row[name]}
