"""A company with rows in every list of an export, and readers of the files."""

import csv
import json
import uuid
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.exports import service
from app.exports.files import Format
from app.exports.service import Export
from tests.factories import Company, observation, send_evidence
from tests.reading.fixtures import NOW, Reader

NAMES = (
    "interactions",
    "reviews",
    "reports",
    "consent_decisions",
    "decisions",
    "outcomes",
    "evidence_counts",
)
HOSTILE = (
    "=HYPERLINK(A1) and more",
    "+1 at the beginning",
    "-1 at the beginning",
    "@import of something",
    "'quoted' from the beginning",
    'a "quoted" word, and a comma',
    "one line\nand another\r\nand a third",
    "\ttabs and \u2028 separators \u202e and a lone 💥",
    "a,b;c|d\\e \\u0000 \\n",
)


def export_to(folder: Path, company: Company, format_: str = "ndjson", **options: Any) -> dict[str, int]:
    pause = options.pop("pause", lambda seconds: None)
    return service.run(Export(company.environment_id, Format(format_), folder, **options), pause=pause)


def read(folder: Path, name: str, format_: str) -> list[dict[str, Any]]:
    """Return the items of a list as the read API shows them."""
    if format_ == "ndjson":
        return [json.loads(line) for line in (folder / f"{name}.ndjson").read_text().split("\n")[:-1]]
    if format_ == "parquet":
        paths = sorted(folder.glob(f"{name}*.parquet"), key=lambda path: (len(path.name), path.name))
        return [_plain(row) for path in paths for row in pq.read_table(path).to_pylist()]
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: _plain_value(value) for name, value in row.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    return json.loads(value) if isinstance(value, str) and value[:1] in "[{" and value else value


def as_csv(item: dict[str, Any]) -> dict[str, str]:
    """Return the row of an item, with the marks of texts that could be formulas removed again."""
    return {name: _csv_value(value) for name, value in item.items()}


def _csv_value(value: Any) -> str:
    if isinstance(value, (dict, list, bool)):
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return "" if value is None else str(value)


def insert(table: str, **values: Any) -> None:
    with transaction():
        places = ", ".join(f":{name}" for name in values)
        session().execute(text(f"INSERT INTO {table} ({', '.join(values)}) VALUES ({places})"), values)


def insert_decision(product_id: uuid.UUID, number: int, at: datetime) -> None:
    """Insert a personalization decision with its outcome."""
    decision_id = uuid.uuid4()
    insert(
        "personalization_decisions",
        product_id=product_id,
        external_id=f"d_{number}",
        id=decision_id,
        retrieval_id=uuid.uuid4(),
        purpose="product_personalization",
        signal_ids=[uuid.uuid4(), uuid.uuid4()],
        created_at=at,
    )
    insert(
        "personalization_outcomes",
        product_id=product_id,
        external_id=f"o_{number}",
        id=uuid.uuid4(),
        decision_id=decision_id,
        outcome="conversion",
        created_at=at,
    )


@pytest.fixture
def filled(reader: Reader, client: FlaskClient, company: Company) -> Company:
    """A company with rows in every list, older than what may still be on its way."""
    product_id, environment_id, at = company.product_id, company.environment_id, NOW - timedelta(hours=1)
    for number, note in enumerate(HOSTILE):
        interaction_id = reader.store_interaction(timedelta(minutes=9), customer_ref=f"c_{number}", duration_ms=-0.5)
        reader.store_review(timedelta(minutes=8), interaction_id=interaction_id, note=note)
        insert(
            "reports",
            environment_id=environment_id,
            interaction_id=interaction_id,
            id=uuid.uuid4(),
            summary=note,
            findings=json.dumps([{"kind": "gap", "topic": "t", "detail": note}]),
            workaround=json.dumps({"used": True, "detail": note}) if number % 2 else None,
            created_at=at,
        )
        insert(
            "consent_decisions",
            environment_id=environment_id,
            interaction_id=interaction_id,
            decision="approved",
            question="once/1",
            key_id="k",
            decided_at=at,
        )
        insert_decision(product_id, number, at)
    send_evidence(client, company, observation(), observation(referrerHost="chatgpt.com"))
    return company
