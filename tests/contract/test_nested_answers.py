"""Objects inside of answers leave as they are made: their schemas name every member, in its order."""

from dataclasses import replace
from typing import Any

import marshmallow
import pytest
from flask.testing import FlaskClient

from app.catalog.entries import catalog_file
from app.consent import contract
from app.consent.schemas import DecisionResultSchema, FeedbackContractSchema, SubmitReportSchema
from app.core.wire.encoder import body_encoder
from app.core.wire.serialization import dumps
from app.discovery import document
from app.discovery.schemas import DiscoverySchema
from app.enrichment.view_schemas import CatalogEntrySchema
from app.products.rules import Mode
from tests.factories import Company, bearer

ENDPOINT = "https://feedback.example.com"
TOKEN = "afr2_token"


def assert_unchanged(schema: marshmallow.Schema, content: Any) -> None:
    assert body_encoder(schema)(content) == dumps(content)


@pytest.mark.parametrize("mode", [None, Mode.ASK_ONCE, Mode.ASK_ALWAYS])
def test_a_contract_is_written_whole(mode: Mode | None) -> None:
    assert_unchanged(FeedbackContractSchema(), contract.feedback_ready(ENDPOINT, TOKEN, 1_800_000_000, mode))


def test_no_contract_is_written_as_null() -> None:
    result = {"state": "declined", "decided_at": None, "changed": True, "feedback": None}
    assert body_encoder(DecisionResultSchema())(result).endswith(b'"feedback":null}')


def test_the_action_of_a_report_is_written_whole() -> None:
    assert_unchanged(SubmitReportSchema(), contract.submit_report(ENDPOINT, TOKEN))


def test_the_discovery_document_is_written_whole() -> None:
    paths = dict.fromkeys(("node", "python", "go", "rust", "protocol"), "/sdk/x")
    assert_unchanged(DiscoverySchema(), document.current("Example", ENDPOINT, paths))


def test_catalog_entries_are_written_whole() -> None:
    for entry in catalog_file().catalog.entries:
        assert_unchanged(CatalogEntrySchema(), entry.as_wire())
        product_entry = replace(entry, question_type="goal")
        assert_unchanged(CatalogEntrySchema(), product_entry.as_wire())


@pytest.mark.parametrize(
    "members",
    [
        {},
        {
            "findings": [{"kind": "gap", "topic": "search", "detail": "Nothing was there."}],
            "workaround": {"used": False},
        },
        {
            "findings": [{"kind": "gap", "topic": "search", "severity": "minor", "detail": "Nothing was there."}],
            "workaround": {"used": True, "detail": "A second call."},
        },
    ],
)
def test_a_report_is_answered_with_every_member_that_was_sent(
    client: FlaskClient, company: Company, members: dict[str, Any]
) -> None:
    body = {"summary": "It worked as documented.", **members}
    report = client.post("/api/v2/reports", json=body, headers=bearer(company.capability())).json["report"]
    assert report["findings"] == members.get("findings", [])
    assert report["workaround"] == members.get("workaround")
