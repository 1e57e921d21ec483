"""The identity of customers: exact references, within one product, and linked once."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.core.purposes import Pepper, Purpose
from app.customers.models import Customer, CustomerReference
from app.customers.rules import Level, digest_references
from app.enrichment.models import Signal
from app.products import service as products
from app.products.rules import KeyKind
from tests.context_api import ADVERTISING, Clock, ContextApi, item
from tests.factories import Company, create_company

PRODUCT_ID = uuid.UUID("018f1f2e-7b4a-4c12-9c8d-123456789abc")
STYLE = {"travel.stay_style": "quiet_boutique"}


def count(model: Any) -> int:
    with transaction():
        return session().execute(select(func.count()).select_from(model)).scalar_one()


def send_answer(context_api: ContextApi, value: str = "quiet_boutique", **references: str) -> Any:
    """Let an agent answer for a customer, to be remembered."""
    request = context_api.ask(**references)
    assert request.status_code == 200, request.data
    receipt = context_api.answer(request.json, item(value=value, remember=True))
    assert receipt.status_code == 200, receipt.data
    return request.json


def test_references_are_kept_as_digests_of_one_product() -> None:
    key = Pepper(b"pepper").derive(Purpose.CUSTOMER_REFERENCES, PRODUCT_ID)
    digests = digest_references([key], None, "u1", None)
    assert digests.user
    (digest,) = digests.user
    assert len(digest) == 32
    assert b"u1" not in digest
    assert digest_references([key], None, "u1", None) == digests
    key_of_another_product = Pepper(b"pepper").derive(Purpose.CUSTOMER_REFERENCES, uuid.uuid4())
    assert digest_references([key_of_another_product], None, "u1", None) != digests
    other_key = Pepper(b"other").derive(Purpose.CUSTOMER_REFERENCES, PRODUCT_ID)
    assert digest_references([other_key], None, "u1", None) != digests
    assert digest_references([other_key, key], None, "u1", None).user == [
        *(digest_references([other_key], None, "u1", None).user or ()),
        digest,
    ]
    same_references = digest_references([key], "x", "x", "x")
    assert len({digests[0] for digests in same_references if digests}) == 3


def test_the_level_follows_from_the_references() -> None:
    def level(*references: str | None) -> Level:
        return digest_references([b"key"], *references).level

    assert level("a", None, None) is level(None, "u", None) is level("a", "u", "n") is Level.VERIFIED
    assert level(None, None, "n") is Level.PSEUDONYMOUS
    assert level(None, None, None) is Level.EPHEMERAL


def test_each_level_is_returned(context_api: ContextApi) -> None:
    for references, level in (
        ({"userRef": "u1"}, "verified"),
        ({"accountRef": "a1"}, "verified"),
        ({"userRef": "u1", "accountRef": "a1"}, "verified"),
        ({"anonymousRef": "n1"}, "pseudonymous"),
        ({"anonymousRef": "n2", "userRef": "u1"}, "verified"),
        ({}, "ephemeral"),
    ):
        assert context_api.ask(**references).json["identityLevel"] == level
        if references:
            assert context_api.retrieve(**references).json["identityLevel"] == level


def test_nobody_in_particular_is_no_customer_and_not_remembered(context_api: ContextApi) -> None:
    request = context_api.ask(remember=True).json
    assert request["constraints"]["retention"] | {"unrememberedExpiresAt": None} == {
        "rememberAllowed": False,
        "rememberSelected": False,
        "rememberedMaxDays": 90,
        "unrememberedExpiresAt": None,
    }
    assert count(Customer) == 0


def test_a_user_with_and_without_the_account_is_one(context_api: ContextApi) -> None:
    send_answer(context_api, userRef="u1", accountRef="a1")
    assert (
        context_api.context_values(userRef="u1") == context_api.context_values(userRef="u1", accountRef="a1") == STYLE
    )
    send_answer(context_api, "business", userRef="u1")
    assert context_api.context_values(userRef="u1", accountRef="a1") == {"travel.stay_style": "business"}
    assert count(Customer) == 1


def test_a_user_who_was_first_seen_without_the_account_is_one_too(context_api: ContextApi) -> None:
    send_answer(context_api, userRef="u1")
    assert context_api.context_values(userRef="u1", accountRef="a1") == STYLE
    send_answer(context_api, "business", userRef="u1", accountRef="a1")
    assert context_api.context_values(userRef="u1") == {"travel.stay_style": "business"}
    assert count(Customer) == 1


def test_the_same_user_reference_of_two_accounts_is_two_users(context_api: ContextApi) -> None:
    send_answer(context_api, userRef="u1", accountRef="a1")
    send_answer(context_api, "business", userRef="u1", accountRef="a2")
    assert context_api.context_values(userRef="u1", accountRef="a1") == STYLE
    assert context_api.context_values(userRef="u1", accountRef="a2") == {"travel.stay_style": "business"}
    assert context_api.context_values(userRef="u1") == {}
    error_response = context_api.ask(userRef="u1")
    assert (error_response.status_code, error_response.json["code"]) == (409, "ambiguous_reference")


def test_an_account_and_its_users_are_not_one_another(context_api: ContextApi) -> None:
    send_answer(context_api, accountRef="a1")
    assert context_api.context_values(accountRef="a1") == STYLE
    assert context_api.context_values(userRef="a1") == context_api.context_values(anonymousRef="a1") == {}
    assert context_api.context_values(userRef="u1", accountRef="a1") == {}


def test_signing_in_moves_everything_and_happens_once(context_api: ContextApi, clock: Clock) -> None:
    send_answer(context_api, anonymousRef="n1")
    open_request = context_api.ask(anonymousRef="n1").json
    retrieval = context_api.retrieve(anonymousRef="n1").json
    clock.advance(minutes=1)
    send_answer(context_api, "business", userRef="u1")
    assert context_api.context_values(userRef="u1", anonymousRef="n1") == {"travel.stay_style": "business"}
    request = context_api.ask(userRef="u1", anonymousRef="n1").json
    assert request["identityLevel"] == "verified"
    assert (count(Customer), count(CustomerReference)) == (1, 2)
    clock.advance(minutes=1)
    assert context_api.answer(open_request, item("content.format", "audio", remember=True)).status_code == 200
    values = {"travel.stay_style": "business", "content.format": "audio"}
    assert context_api.context_values(userRef="u1") == values
    new_decision = {"externalDecisionId": "d1", "contextRetrievalId": retrieval["retrievalId"], "signalIds": []}
    assert context_api.post("/personalization/decisions", new_decision).status_code == 200
    assert context_api.ask(userRef="u1", anonymousRef="n1").status_code == 200
    conflict = context_api.ask(userRef="u2", anonymousRef="n1")
    assert (conflict.status_code, conflict.json["code"]) == (409, "linked_elsewhere")
    assert context_api.context_values(userRef="u2") == {}
    assert count(Customer) == 1


def test_a_new_anonymous_reference_of_a_verified_customer_is_linked_from_the_start(context_api: ContextApi) -> None:
    send_answer(context_api, userRef="u1", anonymousRef="n1")
    assert count(Customer) == 1
    assert context_api.ask(userRef="u2", anonymousRef="n1").json["code"] == "linked_elsewhere"


def test_a_refusal_of_either_holds_for_both_after_linking(context_api: ContextApi) -> None:
    send_answer(context_api, userRef="u1")
    send_answer(context_api, anonymousRef="n1")
    context_api.choose(context_api.ask(anonymousRef="n1").json, "declined")
    open_request = context_api.ask(userRef="u1").json
    assert context_api.ask(userRef="u1", anonymousRef="n1").json["state"] == "declined"
    assert context_api.context_values(userRef="u1") == {}
    assert context_api.inspect(open_request).json["state"] == "declined"
    assert context_api.ask(userRef="u1", purpose=ADVERTISING).json["state"] == "answer_ready"


@pytest.mark.parametrize(("visitor_decision", "user_decision"), [("declined", "approved"), ("approved", "declined")])
def test_a_refusal_overrides_an_approval_when_customers_are_linked(
    context_api: ContextApi, visitor_decision: str, user_decision: str
) -> None:
    context_api.choose(context_api.ask(anonymousRef="n1").json, visitor_decision)
    context_api.choose(context_api.ask(userRef="u1").json, user_decision)
    context_api.ask(userRef="u1", anonymousRef="n1")
    assert context_api.ask(userRef="u1").json["state"] == "declined"


def test_customers_never_join_across_products(client: FlaskClient, context_api: ContextApi) -> None:
    with transaction():
        other_api = ContextApi(client, create_company())
    send_answer(context_api, userRef="u1")
    context_api.choose(context_api.ask(userRef="u2").json, "declined")
    assert other_api.context_values(userRef="u1") == {}
    assert other_api.ask(userRef="u2").json["state"] == "answer_ready"


def test_environments_of_one_product_know_the_same_customers(client: FlaskClient, context_api: ContextApi) -> None:
    with transaction():
        staging = products.create_environment(context_api.company.product_id, "staging")
        key = products.create_key(staging.id, KeyKind.COMPANY).text
    send_answer(context_api, userRef="u1")
    response = context_api.post("/customer-context", {"purpose": "product_personalization", "userRef": "u1"}, key)
    assert len(response.json["items"]) == 1


def test_the_same_new_customer_at_once_is_one(app: Flask, company: Company) -> None:
    barrier = threading.Barrier(30)

    def work(number: int) -> int:
        barrier.wait()
        references = [{"userRef": "u1"}, {"userRef": "u1", "accountRef": "a1"}, {"userRef": "u1", "anonymousRef": "n1"}]
        return int(ContextApi(app.test_client(), company).ask(**references[number % 3]).status_code)

    with ThreadPoolExecutor(30) as pool:
        assert set(pool.map(work, range(30))) == {200}
    assert count(Customer) == 1


def test_links_and_answers_at_once_lose_nothing(app: Flask, company: Company) -> None:
    context_api = ContextApi(app.test_client(), company)
    requests = [context_api.ask(anonymousRef=f"n{number}").json for number in range(10)]
    barrier = threading.Barrier(20)

    def work(number: int) -> int:
        own_context_api = ContextApi(app.test_client(), company)
        barrier.wait()
        if number < 10:
            return int(own_context_api.answer(requests[number], item(remember=True)).status_code)
        return int(own_context_api.ask(userRef="u1", anonymousRef=f"n{number - 10}").status_code)

    with ThreadPoolExecutor(20) as pool:
        assert set(pool.map(work, range(20))) == {200}
    assert count(Customer) == 1
    with transaction():
        assert len(set(session().scalars(select(Signal.customer_id)))) == 1
        assert session().execute(select(func.count()).select_from(Signal)).scalar_one() == 10
