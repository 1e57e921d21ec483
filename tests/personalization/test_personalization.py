"""Decisions and outcomes are recorded once, and a retry gets the same response."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import transaction
from app.retention import service as retention
from tests.context_api import ADVERTISING, PERSONALIZATION, Clock, ContextApi, item
from tests.factories import Company, create_company


def retrieve(context_api: ContextApi) -> tuple[str, list[str]]:
    """Return a retrieval of two signals."""
    request = context_api.ask(userRef="u1").json
    context_api.answer(request, item(remember=True), item("content.format", "audio", remember=True))
    response = context_api.retrieve(userRef="u1").json
    return response["retrievalId"], [entry["signalId"] for entry in response["items"]]


def decide(context_api: ContextApi, retrieval_id: str, signal_ids: list[str], **details: Any) -> Any:
    body = {"externalDecisionId": "d1", "contextRetrievalId": retrieval_id, "signalIds": signal_ids, **details}
    return context_api.post("/personalization/decisions", body)


def record_outcome(context_api: ContextApi, decision_id: str, **details: Any) -> Any:
    body = {"externalOutcomeId": "o1", "decisionId": decision_id, "outcome": "conversion", **details}
    return context_api.post("/personalization/outcomes", body)


def test_a_decision_names_what_it_was_made_from(context_api: ContextApi) -> None:
    retrieval_id, signal_ids = retrieve(context_api)
    decision_response = decide(context_api, retrieval_id, signal_ids, variant="quiet-first")
    assert decision_response.status_code == 200, decision_response.data
    decision = decision_response.json["decision"]
    assert uuid.UUID(decision.pop("id"))
    assert decision.pop("createdAt").endswith("Z")
    assert decision == {
        "externalDecisionId": "d1",
        "contextRetrievalId": retrieval_id,
        "purpose": PERSONALIZATION,
        "signalIds": sorted(signal_ids),
        "variant": "quiet-first",
    }


def test_a_retry_gets_the_same_response_for_ever(context_api: ContextApi, clock: Clock) -> None:
    retrieval_id, signal_ids = retrieve(context_api)
    decision_response = decide(context_api, retrieval_id, signal_ids)
    assert decision_response.json["decision"]["variant"] is None
    outcome_response = record_outcome(context_api, decision_response.json["decision"]["id"])
    clock.advance(days=400)
    retention.expire_enrichment()
    assert decide(context_api, retrieval_id, list(reversed(signal_ids))).data == decision_response.data
    assert record_outcome(context_api, decision_response.json["decision"]["id"]).data == outcome_response.data
    assert decide(context_api, retrieval_id, signal_ids, externalDecisionId="d2").json["code"] == "unknown_retrieval"


@pytest.mark.parametrize("change", [{"signalIds": []}, {"variant": "other"}, {"contextRetrievalId": str(uuid.uuid4())}])
def test_a_changed_decision_conflicts(context_api: ContextApi, change: dict[str, Any]) -> None:
    retrieval_id, signal_ids = retrieve(context_api)
    decision_response = decide(context_api, retrieval_id, signal_ids, variant="a")
    conflict = decide(context_api, retrieval_id, signal_ids, **{"variant": "a", **change})
    assert (conflict.status_code, conflict.json["code"]) == (409, "decision_changed")
    assert [problem["pointer"] for problem in conflict.json["errors"]] == [f"/{next(iter(change))}"]
    assert decide(context_api, retrieval_id, signal_ids, variant="a").data == decision_response.data


@pytest.mark.parametrize(
    ("details", "status"),
    [
        ({"externalDecisionId": "-d"}, 422),
        ({"externalDecisionId": "d" * 101}, 422),
        ({"externalDecisionId": None}, 422),
        ({"contextRetrievalId": "x"}, 422),
        ({"contextRetrievalId": str(uuid.uuid4())}, 404),
        ({"signalIds": [str(uuid.uuid4())]}, 422),
        ({"signalIds": ["x"]}, 422),
        ({"signalIds": [str(uuid.uuid4())] * 51}, 422),
        ({"signalIds": "all"}, 422),
        ({"signalIds": [{}]}, 400),
        ({"variant": "two words"}, 422),
        ({"variant": None}, 422),
        ({"score": 1}, 400),
    ],
)
def test_an_invalid_decision_is_refused(context_api: ContextApi, details: dict[str, Any], status: int) -> None:
    retrieval_id, signal_ids = retrieve(context_api)
    assert decide(context_api, retrieval_id, signal_ids, **details).status_code == status


def test_only_signals_of_the_retrieval_count_each_once(context_api: ContextApi) -> None:
    retrieval_id, signal_ids = retrieve(context_api)
    other_id = str(uuid.uuid4())
    error_response = decide(context_api, retrieval_id, [signal_ids[0], other_id, signal_ids[0]])
    assert [(p["pointer"], p["code"]) for p in error_response.json["errors"]] == [
        ("/signalIds/1", "not_retrieved"),
        ("/signalIds/2", "distinct"),
    ]
    assert decide(context_api, retrieval_id, signal_ids[:1]).json["decision"]["signalIds"] == signal_ids[:1]
    assert decide(context_api, retrieval_id, [], externalDecisionId="d2").json["decision"]["signalIds"] == []


def test_an_outcome_belongs_to_its_decision(context_api: ContextApi) -> None:
    decision_id = decide(context_api, *retrieve(context_api)).json["decision"]["id"]
    outcome_response = record_outcome(context_api, decision_id)
    outcome = outcome_response.json["outcome"]
    assert outcome["occurredAt"] == outcome["createdAt"]
    assert (outcome["decisionId"], outcome["outcome"], outcome["externalOutcomeId"]) == (
        decision_id,
        "conversion",
        "o1",
    )
    response = record_outcome(
        context_api, decision_id, externalOutcomeId="o2", occurredAt="2026-01-31T12:00:00.5+02:00"
    )
    assert response.json["outcome"]["occurredAt"] == "2026-01-31T10:00:00.500000Z"
    retry = record_outcome(context_api, decision_id, externalOutcomeId="o2", occurredAt="2026-01-31T10:00:00.500Z")
    assert retry.data == response.data


@pytest.mark.parametrize(
    "change", [{"outcome": "dismissal"}, {"occurredAt": "2026-01-31T12:00:00Z"}, {"decisionId": str(uuid.uuid4())}]
)
def test_a_changed_outcome_conflicts(context_api: ContextApi, change: dict[str, Any]) -> None:
    decision_id = decide(context_api, *retrieve(context_api)).json["decision"]["id"]
    outcome_response = record_outcome(context_api, decision_id)
    conflict = record_outcome(context_api, decision_id, **change)
    assert (conflict.status_code, conflict.json["code"]) == (409, "outcome_changed")
    assert [problem["pointer"] for problem in conflict.json["errors"]] == [f"/{next(iter(change))}"]
    assert record_outcome(context_api, decision_id).data == outcome_response.data


@pytest.mark.parametrize(
    ("details", "status"),
    [
        ({"outcome": "sale"}, 422),
        ({"decisionId": str(uuid.uuid4())}, 404),
        ({"decisionId": "d1"}, 422),
        ({"occurredAt": "yesterday"}, 422),
        ({"occurredAt": "0001-01-01T00:00:00+23:59"}, 200),
        ({"occurredAt": "9999-12-31T23:59:59-23:59"}, 200),
        ({"revenue": 10}, 400),
    ],
)
def test_an_outcome_is_checked(context_api: ContextApi, details: dict[str, Any], status: int) -> None:
    decision_id = decide(context_api, *retrieve(context_api)).json["decision"]["id"]
    outcome_response = record_outcome(context_api, decision_id, **details)
    assert outcome_response.status_code == status
    assert record_outcome(context_api, decision_id, **details).status_code == status


def test_another_product_finds_neither_retrieval_nor_decision(client: FlaskClient, context_api: ContextApi) -> None:
    with transaction():
        other_api = ContextApi(client, create_company())
    retrieval_id, signal_ids = retrieve(context_api)
    assert decide(other_api, retrieval_id, signal_ids).status_code == 404
    decision_id = decide(context_api, retrieval_id, signal_ids).json["decision"]["id"]
    assert record_outcome(other_api, decision_id).status_code == 404
    other_retrieval = retrieve(other_api)
    assert decide(other_api, *other_retrieval).status_code == 200


def test_a_decision_keeps_the_purpose_of_its_retrieval(context_api: ContextApi) -> None:
    retrieval_id = context_api.retrieve(ADVERTISING, userRef="u1").json["retrievalId"]
    assert decide(context_api, retrieval_id, []).json["decision"]["purpose"] == ADVERTISING


def test_thirty_at_once_record_one(app: Flask, company: Company) -> None:
    context_api = ContextApi(app.test_client(), company)
    retrieval_id, signal_ids = retrieve(context_api)
    barrier = threading.Barrier(30)

    def work(number: int) -> Any:
        barrier.wait()
        own_context_api = ContextApi(app.test_client(), company)
        decision_response = decide(own_context_api, retrieval_id, signal_ids, variant=f"v{number % 2}")
        if decision_response.status_code == 409:
            return decision_response.status_code, None
        outcome_response = record_outcome(own_context_api, decision_response.json["decision"]["id"])
        return decision_response.status_code, (decision_response.data, outcome_response.data)

    with ThreadPoolExecutor(30) as pool:
        responses = list(pool.map(work, range(30)))
    assert sorted({status for status, _ in responses}) == [200, 409]
    assert sum(status == 200 for status, _ in responses) == 15
    assert len({data for _, data in responses if data}) == 1
