"""A whole rotation: old secrets, both, and the new ones alone."""

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.customers.models import Customer, CustomerReference
from app.enrichment.models import Signal
from app.evidence.models import EvidenceEvent
from app.products import service as products
from app.products.models import Key
from app.products.rules import KeyKind
from tests.context_api import Clock, ContextApi, handle, item
from tests.factories import (
    Company,
    bearer,
    create_company,
    event,
    observation,
    send_events,
    send_evidence,
    send_review,
    sign_in,
)
from tests.secrets.app_secrets import AppSecrets, rotation

STYLE = {"travel.stay_style": "quiet_boutique"}


@pytest.fixture
def app_secrets(app: Flask) -> Iterator[AppSecrets]:
    with rotation(app) as secrets:
        yield secrets


def rotate(app: Flask) -> Any:
    result = app.test_cli_runner().invoke(args=["secrets", "rotate", "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def count(model: Any) -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(model)) or 0


def remember(context_api: ContextApi, **references: str) -> Any:
    """Let a customer's agent answer, to be remembered; returns the request."""
    request = context_api.ask(**references)
    assert request.status_code == 200, request.data
    assert context_api.answer(request.json, item(remember=True)).status_code == 200
    return request.json


@dataclass(frozen=True)
class Before:
    """What was stored under the old secrets: of a company in use, and of one that only has keys."""

    idle_company: Company
    request_details: dict[str, str]
    open_request: Any
    events: list[dict[str, Any]]
    capability: str


def store_under_old_secrets(client: FlaskClient, context_api: ContextApi, clock: Clock) -> Before:
    company = context_api.company
    with transaction():
        idle_company = create_company()
    details = {"userRef": "u1", "accountRef": "a1", "interactionId": str(uuid.uuid4())}
    open_request = context_api.ask(**details).json
    remember(context_api, userRef="u1", accountRef="a1")
    remember(context_api, anonymousRef="n1")
    remember(context_api, userRef="u-stays-away")
    context_api.choose(context_api.ask(userRef="u-declines").json, "declined")
    events = [observation(observedAt=clock.now.isoformat()) for _ in range(3)]
    assert send_evidence(client, company, *events).json["accepted"] == 3
    capability = company.capability(issued_at=int(clock.now.timestamp()))
    return Before(idle_company, details, open_request, events, capability)


def assert_all_works_under_both(client: FlaskClient, context_api: ContextApi, clock: Clock, before: Before) -> None:
    company = context_api.company
    assert send_events(client, company, event()).status_code == 202
    assert send_review(client, before.capability).status_code in (200, 201)
    assert sign_in(client, company).status_code == 200
    retry = context_api.ask(**before.request_details)
    assert (retry.status_code, retry.json["requestId"]) == (200, before.open_request["requestId"])
    changed = context_api.ask(**before.request_details | {"remember": False})
    assert [error["pointer"] for error in changed.json["errors"]] == ["/remember"]
    receipt = context_api.answer(before.open_request, item(remember=True))
    assert receipt.status_code == 200
    assert send_evidence(client, company, *before.events, observation(observedAt=clock.now.isoformat())).json == {
        "accepted": 1,
        "duplicates": 3,
        "expired": 0,
    }
    assert context_api.context_values(userRef="u1") == context_api.context_values(anonymousRef="n1") == STYLE
    assert context_api.ask(userRef="u1", accountRef="a1").status_code == 200
    assert context_api.ask(anonymousRef="n1").status_code == 200
    assert count(Customer) == 4


def assert_what_can_be_renewed_is_and_the_rest_is_counted(app: Flask, clock: Clock) -> None:
    report = rotate(app)
    assert [(column["name"], column["resealed"]) for column in report["sealed"]] == [
        ("second_factors.sealed_secret", 0),
        ("keys.sealed_secret", 2),
        ("webhook_endpoints.sealed_secret", 0),
        ("webhook_endpoints.sealed_old_secret", 0),
    ]
    assert report["olderSealingSecrets"].startswith("They can be removed now")
    assert report["renewedProductKeys"] == 1, "the other one was used, and renewed by that"
    (pepper,) = report["olderPeppers"]
    assert pepper["remaining"] == {"keys": 1, "customer references": 2, "customers who declined": 1}
    assert pepper["removableOn"] == (clock.now + timedelta(days=92)).date().isoformat()
    assert "customers who declined and were not named since (1) would be asked again" in pepper["reason"]
    second_report = rotate(app)
    assert {column["resealed"] for column in second_report["sealed"]} == {0}
    assert second_report["renewedProductKeys"] == 0
    assert second_report["olderPeppers"] == [pepper], "the day does not move"


def assert_what_was_renewed_works_alone(
    client: FlaskClient, context_api: ContextApi, clock: Clock, before: Before
) -> None:
    for company in (context_api.company, before.idle_company):
        assert send_events(client, company, event()).status_code == 202
        token = company.capability(issued_at=int(clock.now.timestamp()))
        assert send_review(client, token).status_code in (200, 201)
    assert sign_in(client, context_api.company).status_code == 200
    assert context_api.context_values(userRef="u1", accountRef="a1") == STYLE
    assert context_api.context_values(userRef="u1") == context_api.context_values(anonymousRef="n1") == STYLE


def assert_the_rest_is_lost(client: FlaskClient, context_api: ContextApi, before: Before) -> None:
    """Check the loss of what `flask secrets rotate` has counted, and of what it named without a number."""
    assert send_evidence(client, before.idle_company, observation()).status_code == 401
    assert context_api.context_values(userRef="u-stays-away") == {}
    assert context_api.ask(userRef="u-declines").json["state"] == "answer_ready"
    assert context_api.inspect(before.open_request).status_code == 401
    assert send_evidence(client, context_api.company, *before.events).json["accepted"] == 3


def test_a_whole_rotation_loses_only_what_the_documentation_says(
    app: Flask, client: FlaskClient, context_api: ContextApi, clock: Clock, app_secrets: AppSecrets
) -> None:
    before = store_under_old_secrets(client, context_api, clock)
    app_secrets.configure(
        [app_secrets.new_pepper, app_secrets.old_pepper],
        [app_secrets.new_sealing_secret, app_secrets.old_sealing_secret],
    )
    assert_all_works_under_both(client, context_api, clock, before)
    assert_what_can_be_renewed_is_and_the_rest_is_counted(app, clock)
    # The old secrets are removed, before the day on which that costs nothing.
    app_secrets.configure([app_secrets.new_pepper], [app_secrets.new_sealing_secret])
    assert_what_was_renewed_works_alone(client, context_api, clock, before)
    assert_the_rest_is_lost(client, context_api, before)


def test_a_key_is_renewed_by_its_use_and_is_lost_without(
    app: Flask, client: FlaskClient, company: Company, app_secrets: AppSecrets
) -> None:
    with transaction():
        idle_key = products.create_key(company.environment_id, KeyKind.COMPANY)
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    for _ in range(2):
        assert send_evidence(client, company, observation()).status_code == 200
    with transaction():
        digests = {key.id: (key.digest, key.pepper_id) for key in session().scalars(select(Key))}
    used_id = company.company_key.split("_")[2]
    assert digests[used_id][1] != digests[idle_key.id][1]
    # Back to the old order: both are still known, as in the first step of a rotation of several machines.
    app_secrets.configure([app_secrets.old_pepper, app_secrets.new_pepper])
    assert send_evidence(client, company, observation()).status_code == 200
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    assert send_evidence(client, company, observation()).status_code == 200
    app_secrets.configure([app_secrets.new_pepper])
    assert send_evidence(client, company, observation()).status_code == 200
    fields = client.get("/api/v2/enrichment/fields", headers=bearer(idle_key.text))
    assert (fields.status_code, rotate(app)["underSecretsThatAreNotConfigured"]) == (401, {"keys": 2})


def test_a_form_that_was_opened_before_is_still_valid(
    client: FlaskClient, company: Company, app_secrets: AppSecrets
) -> None:
    token = client.get("/sign-in").text.partition('name="csrf_token" value="')[2].partition('"')[0]
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    form = {"csrf_token": token, "email": company.email, "password": company.password}
    assert client.post("/sign-in", data=form).status_code == 303
    home = client.get("/").text
    session_token = home.partition('name="csrf_token" value="')[2].partition('"')[0]
    app_secrets.configure([app_secrets.old_pepper, app_secrets.new_pepper])
    assert client.post("/sign-out", data={"csrf_token": session_token}).status_code == 303


def test_failed_sign_ins_count_on(client: FlaskClient, company: Company, app_secrets: AppSecrets, clock: Clock) -> None:
    for _ in range(5):
        assert sign_in(client, company, json={"password": "wrong"}).status_code == 401
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    assert sign_in(client, company, json={"password": "wrong"}).status_code == 401
    assert sign_in(client, company).status_code == 429
    clock.advance(minutes=1)
    assert sign_in(client, company).status_code == 200


def test_the_pepper_of_a_rotation_that_was_taken_back_is_the_newest_again(
    app: Flask, company: Company, app_secrets: AppSecrets, clock: Clock
) -> None:
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    first = rotate(app)["olderPeppers"][0]
    app_secrets.configure([app_secrets.old_pepper, app_secrets.new_pepper])
    clock.advance(days=5)
    (pepper,) = rotate(app)["olderPeppers"]
    assert pepper["pepperId"] != first["pepperId"]
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    clock.advance(days=5)
    assert rotate(app)["olderPeppers"][0]["replacedAt"] > first["replacedAt"]


def test_after_its_day_nothing_needs_the_old_pepper(
    app: Flask, context_api: ContextApi, app_secrets: AppSecrets, clock: Clock
) -> None:
    remember(context_api, userRef="u1")
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    remember(context_api, userRef="u2")
    assert rotate(app)["olderPeppers"][0]["remaining"] == {"customer references": 1}
    clock.advance(days=92)
    (pepper,) = rotate(app)["olderPeppers"]
    assert (pepper["remaining"], pepper["reason"]) == ("none", "It can be removed now.")
    assert pepper["removableOn"] == clock.now.date().isoformat()


def test_what_is_stored_under_both_is_found_once(
    client: FlaskClient, context_api: ContextApi, app_secrets: AppSecrets
) -> None:
    """A process without the new pepper has stored a reference and an event that one with it had stored before."""
    company, sent = context_api.company, observation()
    context_api.choose(context_api.ask(userRef="u1").json, "declined")
    app_secrets.configure([app_secrets.new_pepper])
    other_api = ContextApi(client, _new_keys(company))
    remember(other_api, userRef="u1", accountRef="a1")
    remember(other_api, userRef="u1")
    assert count(Customer) == 2
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    send_evidence(client, other_api.company, sent)
    app_secrets.configure([app_secrets.old_pepper, app_secrets.new_pepper])
    assert send_evidence(client, other_api.company, sent).json["duplicates"] == 1
    assert count(EvidenceEvent) == 1


def _new_keys(company: Company) -> Company:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY)
    return Company(company.workspace_id, company.product_id, company.environment_id, company.product_key, key.text)


def test_a_reference_that_two_processes_have_stored_becomes_one_customer_with_its_refusal(
    client: FlaskClient, context_api: ContextApi, app_secrets: AppSecrets
) -> None:
    context_api.choose(context_api.ask(userRef="u1").json, "declined")
    app_secrets.configure([app_secrets.new_pepper])
    other_api = ContextApi(client, _new_keys(context_api.company))
    remember(other_api, userRef="u1")
    assert count(Customer) == 2
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    assert other_api.ask(userRef="u1").json["state"] == "declined"
    assert count(Signal) == 0, "the refusal holds for what the other process has stored"
    assert (count(Customer), count(CustomerReference)) == (1, 1)


def test_the_handle_names_its_request_whichever_pepper_has_signed_it(
    context_api: ContextApi, app_secrets: AppSecrets
) -> None:
    request = context_api.ask(userRef="u1").json
    app_secrets.configure([app_secrets.new_pepper, app_secrets.old_pepper])
    inspected = context_api.inspect(request)
    assert inspected.status_code == 200
    assert handle(inspected.json) != handle(request)
    assert context_api.inspect(inspected.json).status_code == 200
