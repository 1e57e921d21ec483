"""A company with a read key, and the pages that it reads."""

import base64
import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from app.core.database import session, transaction
from tests.factories import Company, bearer, create_read_key, sign_in

NOW = datetime.now(UTC).replace(microsecond=0)


def forge_cursor(cursor: str, place: list[str]) -> str:
    """Return a cursor of the same list and filters with another place."""
    checksum = json.loads(base64.urlsafe_b64decode(f"{cursor}=="))[0]
    content = json.dumps([checksum, *place], separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(content.encode(errors="surrogatepass")).rstrip(b"=").decode()


@dataclass(frozen=True)
class Reader:
    """Reads with the read key of one environment."""

    client: FlaskClient
    company: Company
    key: str

    def get(self, path: str, **query: Any) -> TestResponse:
        return self.client.get(f"/api/v2/{path}", query_string=query, headers=bearer(self.key))

    def items(self, path: str, **query: Any) -> list[dict[str, Any]]:
        """Return the items of every page, one page after the other."""
        return [item for page in self.pages(path, **query) for item in page["items"]]

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        cursor: dict[str, str] = {}
        while True:
            response = self.get(path, **query, **cursor)
            assert response.status_code == 200, response.text
            page: dict[str, Any] = response.json
            yield page
            if page["nextCursor"] is None:
                return
            cursor = {"cursor": page["nextCursor"]}

    def store_interaction(self, age: timedelta = timedelta(minutes=5), **columns: Any) -> uuid.UUID:
        """Insert an interaction that arrived so long ago, and return its id."""
        values = {
            "environment_id": self.company.environment_id,
            "id": uuid.uuid4(),
            "received_at": NOW - age,
            "surface": "http_json",
            "operation": "/orders/:id",
            "classification": "unclassified",
            **columns,
        }
        _insert("interactions", values)
        return values["id"]

    def store_review(self, age: timedelta = timedelta(minutes=5), **columns: Any) -> uuid.UUID:
        """Insert a review that was sent so long ago, and return the id of its interaction."""
        values = {
            "environment_id": self.company.environment_id,
            "interaction_id": uuid.uuid4(),
            "id": uuid.uuid4(),
            "outcome": "success",
            "note": "Every order was there.",
            "created_at": NOW - age,
            **columns,
        }
        _insert("reviews", values)
        return values["interaction_id"]

    def store_report(self, age: timedelta = timedelta(minutes=5), **columns: Any) -> uuid.UUID:
        """Insert a report that was sent so long ago, and return the id of its interaction."""
        findings = json.dumps(columns.pop("findings", []))
        values = {
            "environment_id": self.company.environment_id,
            "interaction_id": uuid.uuid4(),
            "id": uuid.uuid4(),
            "summary": "The second page of orders was empty.",
            "impact": "hindered",
            "findings": findings,
            "created_at": NOW - age,
            **columns,
        }
        _insert("reports", values)
        return values["interaction_id"]

    def store_session(self, age: timedelta = timedelta(minutes=5), **columns: Any) -> None:
        """Insert a session that was seen for a minute, so long ago."""
        values = {
            "environment_id": self.company.environment_id,
            "source": "customer",
            "ref": "visit_1",
            "customer_ref": "",
            "first_seen_at": NOW - age - timedelta(minutes=1),
            "last_seen_at": NOW - age,
            **columns,
        }
        _insert("sessions", values)


def _insert(table: str, values: dict[str, Any]) -> None:
    places = ", ".join(f":{name}" for name in values)
    with transaction():
        session().execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"), values)


@pytest.fixture
def reader(client: FlaskClient, company: Company) -> Reader:
    return Reader(client, company, create_read_key(company.environment_id))


@pytest.fixture
def signed_in(client: FlaskClient, reader: Reader) -> FlaskClient:
    """The client, with the owner of the reader's company signed in."""
    sign_in(client, reader.company)
    return client
