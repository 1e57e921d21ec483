"""What an environment has behind it: counts of days, and what a page reads besides."""

import csv
import io
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import Engine, event, text

from app.core.database import session, transaction
from tests.factories import Company

HOSTILE = "<img src=x onerror=alert(1)>"


def insert(table: str, values: Mapping[str, Any]) -> None:
    """Store a row."""
    places = ", ".join(f":{name}" for name in values)
    with transaction():
        session().execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"), values)


def count_day(company: Company, operation: str, interactions: int, *outcomes: int, **columns: Any) -> None:
    """Store the counts of today, or of `days_ago`; the outcomes are success, partial and failure."""
    success, partial, failure = outcomes or (0, 0, 0)
    day_on = datetime.now(UTC).date() - timedelta(days=columns.pop("days_ago", 0))
    values = {
        "environment_id": company.environment_id,
        "day_on": day_on,
        "operation": operation,
        "surface": "http_json",
        "interactions": interactions,
        "confirmed": success + partial + failure,
        "success": success,
        "partial": partial,
        "failure": failure,
    }
    insert("interaction_days", values | columns)


def words(page: str) -> str:
    """Return the text of a page's content, with one space between words."""
    main = page.partition('<main id="main">')[2]
    return " ".join(re.sub(r"<[^>]*>", " ", main).split())


def export(client: FlaskClient, path: str) -> list[dict[str, Any]]:
    """Return the objects of an NDJSON export."""
    response = client.get(path)
    assert response.status_code == 200, response.text
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response.headers["Cache-Control"]
    return [json.loads(line) for line in response.text.splitlines()]


def export_csv(client: FlaskClient, path: str) -> list[dict[str, str]]:
    """Return the rows of a CSV export."""
    response = client.get(path)
    assert (response.status_code, response.mimetype) == (200, "text/csv")
    return list(csv.DictReader(io.StringIO(response.text)))


def count_statements(client: FlaskClient, path: str) -> int:
    """Return how many statements a page executes."""
    statements: list[str] = []

    def record(_connection: object, _cursor: object, sql: str, *_: object) -> None:
        statements.append(sql)

    event.listen(Engine, "before_cursor_execute", record)
    try:
        assert client.get(path).status_code == 200
    finally:
        event.remove(Engine, "before_cursor_execute", record)
    return len(statements)
