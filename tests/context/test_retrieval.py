"""Retrieval: what is known at this second, and nothing else."""

import base64
import hashlib
import uuid
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.context.models import ContextRetrieval
from app.context.rules import MAX_ITEMS, context_version
from app.core.database import session, transaction
from app.customers.models import Customer
from app.enrichment.models import Signal
from app.products import service as products
from app.products.rules import KeyKind
from tests.context_api import ADVERTISING, PERSONALIZATION, Clock, ContextApi, item
from tests.factories import bearer, create_company


def send_answer(context_api: ContextApi, *items: dict[str, Any], **details: Any) -> Any:
    request = context_api.ask(**{"userRef": "u1", **details}).json
    receipt = context_api.answer(request, *items)
    assert receipt.status_code == 200, receipt.data
    return request, receipt.json["signals"]


def test_the_version_of_a_context_is_the_hash_of_its_purpose_and_signals() -> None:
    ids = [uuid.UUID(int=number) for number in (2, 1)]
    text = f"{PERSONALIZATION}\n{uuid.UUID(int=1)}\n{uuid.UUID(int=2)}"
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
    assert context_version(PERSONALIZATION, ids) == f"ctx1_{digest}"


def test_what_is_remembered_is_retrieved(context_api: ContextApi) -> None:
    _, signals = send_answer(context_api, item(remember=True, confidence=0.75))
    response = context_api.retrieve(userRef="u1")
    assert response.status_code == 200, response.data
    assert response.headers["Cache-Control"] == "private, no-store"
    body = response.json
    assert uuid.UUID(body.pop("retrievalId"))
    version = context_version(PERSONALIZATION, [uuid.UUID(signals[0]["signalId"])])
    assert body == {
        "identityLevel": "verified",
        "contextVersion": version,
        "interactionId": None,
        "items": signals,
    }
    retry = context_api.retrieve(userRef="u1").json
    assert retry["contextVersion"] == version


def test_somebody_unknown_has_no_items_and_is_not_made(context_api: ContextApi) -> None:
    response = context_api.retrieve(userRef="nobody")
    assert (response.status_code, response.json["items"]) == (200, [])
    assert context_api.retrieve(interactionId=str(uuid.uuid4())).json["items"] == []
    with transaction():
        assert session().execute(select(func.count()).select_from(Customer)).scalar_one() == 0
        assert session().execute(select(func.count()).select_from(ContextRetrieval)).scalar_one() == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"purpose": PERSONALIZATION}, 422),
        ({"userRef": "u1"}, 422),
        ({"purpose": "other", "userRef": "u1"}, 422),
        ({"purpose": PERSONALIZATION, "userRef": None}, 422),
        ({"purpose": PERSONALIZATION, "interactionId": "x"}, 422),
        ({"purpose": PERSONALIZATION, "email": "x"}, 400),
        ({"purpose": PERSONALIZATION, "userRef": "u1", "limit": 5}, 400),
    ],
)
def test_a_query_that_does_not_fit_is_refused(context_api: ContextApi, body: dict[str, Any], status: int) -> None:
    assert context_api.post("/customer-context", body).status_code == status


def test_what_is_not_remembered_belongs_to_its_interaction(context_api: ContextApi, clock: Clock) -> None:
    request, _ = send_answer(context_api, item())
    assert context_api.context_values(userRef="u1") == {}
    for references in ({}, {"userRef": "u1"}):
        assert context_api.context_values(interactionId=request["interactionId"], **references) == {
            "travel.stay_style": "quiet_boutique"
        }
    assert context_api.context_values(interactionId=request["interactionId"], userRef="u2") == {}
    response = context_api.retrieve(interactionId=request["interactionId"]).json
    assert (response["identityLevel"], response["interactionId"]) == ("ephemeral", request["interactionId"])
    clock.advance(seconds=7200)
    assert context_api.context_values(interactionId=request["interactionId"]) == {}


def test_the_newest_of_each_key_counts(context_api: ContextApi, clock: Clock) -> None:
    send_answer(context_api, item(remember=True), item("content.format", "audio", remember=True))
    clock.advance(seconds=1)
    request, _ = send_answer(context_api, item(value="business"))
    clock.advance(seconds=1)
    send_answer(context_api, item("content.format", "video", remember=True))
    assert context_api.context_values(userRef="u1") == {
        "travel.stay_style": "quiet_boutique",
        "content.format": "video",
    }
    assert context_api.context_values(userRef="u1", interactionId=request["interactionId"]) == {
        "travel.stay_style": "business",
        "content.format": "video",
    }


def test_what_has_ended_is_absent_at_that_very_second(context_api: ContextApi, clock: Clock) -> None:
    ends_at = clock.now + timedelta(minutes=10)
    send_answer(context_api, item(remember=True, expiresAt=ends_at.isoformat()))
    clock.now = ends_at - timedelta(microseconds=1)
    assert len(context_api.context_values(userRef="u1")) == 1
    clock.now = ends_at
    assert context_api.context_values(userRef="u1") == {}
    with transaction():
        assert session().execute(select(func.count()).select_from(Signal)).scalar_one() == 1


def test_a_shorter_retention_counts_at_once(context_api: ContextApi, clock: Clock) -> None:
    send_answer(context_api, item(remember=True))
    clock.advance(days=2)
    assert len(context_api.context_values(userRef="u1")) == 1
    with transaction():
        products.set_environment(context_api.company.environment_id, retention_days=2)
    assert context_api.context_values(userRef="u1") == {}


def test_purposes_share_nothing(context_api: ContextApi) -> None:
    send_answer(context_api, item("content.format", "audio", remember=True))
    assert context_api.context_values(ADVERTISING, userRef="u1") == {}
    send_answer(context_api, item("content.format", "video", remember=True), purpose=ADVERTISING)
    assert context_api.context_values(userRef="u1") == {"content.format": "audio"}
    assert context_api.context_values(ADVERTISING, userRef="u1") == {"content.format": "video"}
    response = context_api.retrieve(ADVERTISING, userRef="u1").json
    assert response["items"][0]["allowedUses"] == [ADVERTISING]


def test_another_product_or_environment_sees_nothing_of_an_interaction(
    client: FlaskClient, context_api: ContextApi
) -> None:
    with transaction():
        other_api = ContextApi(client, create_company())
        staging = products.create_environment(context_api.company.product_id, "staging")
        key = products.create_key(staging.id, KeyKind.COMPANY).text
    request, _ = send_answer(context_api, item(remember=True))
    assert other_api.context_values(userRef="u1") == {}
    assert other_api.context_values(interactionId=request["interactionId"]) == {}
    query = {"purpose": PERSONALIZATION, "interactionId": request["interactionId"]}
    assert context_api.post("/customer-context", query, key).json["items"] == []


def test_a_context_is_bounded(context_api: ContextApi, clock: Clock) -> None:
    for start in range(0, MAX_ITEMS + 8, 8):
        # A product has fewer fields than this at any time, but may have had more.
        keys = [f"trip.k{number:03d}" for number in range(start, start + 8)]
        for key in keys:
            assert context_api.put_field(key).status_code == 200
        send_answer(context_api, *(item(key, "slow", remember=True) for key in keys), fieldKeys=keys)
        for key in keys:
            headers = bearer(context_api.company.company_key)
            assert context_api.client.delete(f"/api/v2/enrichment/fields/{key}", headers=headers).status_code == 200
    assert len(context_api.context_values(userRef="u1")) == MAX_ITEMS
