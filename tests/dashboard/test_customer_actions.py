"""Export, erasure and opt-outs of a customer, each with a second step and on record."""

import json
import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from tests.context_api import ADVERTISING, PERSONALIZATION, ContextApi, item
from tests.customers.test_export_and_erasure import REFERENCES, command, run_consumer
from tests.dashboard.browser import fields, send
from tests.dashboard.test_customers import PAGE, find, text_of
from tests.factories import Company, sign_in


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def confirm(client: FlaskClient, path: str, **values: str) -> TestResponse:
    """Open the page of a second step and send its form."""
    return client.post(path, data={**fields(client.get(path)), **values})


def last_entry() -> AuditEntry:
    with transaction():
        return session().scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(1)).one()


def test_the_export_is_what_the_command_prints(app: Flask, owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    response = confirm(owner, f"{path}/export")
    assert response.text == command(app, context_api, "export").output
    assert {"customers", "signals", "personalization_outcomes"} <= {
        json.loads(line)["table"] for line in response.text.splitlines()
    }
    assert (
        response.headers["Content-Disposition"] == f'attachment; filename="customer-{path.rpartition("/")[2]}.ndjson"'
    )
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in response.headers["Cache-Control"]


def test_an_export_is_on_record_and_its_confirmation_is_not(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.ask(userRef="u1")
    path = find(owner, user_ref="u1")
    owner.get(f"{path}/export")
    assert last_entry().action != "customer.exported"
    confirm(owner, f"{path}/export")
    entry = last_entry()
    assert (entry.action, entry.subject) == ("customer.exported", path.rpartition("/")[2])
    assert entry.actor.startswith("user ")


def test_the_second_step_says_what_goes(owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    text = text_of(owner.get(find(owner, user_ref=REFERENCES["userRef"]) + "/erase").text)
    goes, _, stays = text.partition("What stays")
    for sentence in (
        "Signals: 1",
        "Retrievals: 1",
        "Decisions: 1",
        "Outcomes: 1",
        "References: 2",
        "recorded approval",
    ):
        assert sentence in goes
    assert "recorded no" not in stays
    assert "Forget the no" not in stays


def test_an_erased_customer_is_gone(owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    context_api.answer(context_api.ask(userRef="u2").json, item(remember=True))
    path = find(owner, user_ref=REFERENCES["userRef"])
    owner.get(f"{path}/erase")
    assert context_api.context_values(**REFERENCES)
    response = confirm(owner, f"{path}/erase")
    assert "The customer is erased." in owner.get(response.location).text
    entry = last_entry()
    assert (entry.action, entry.subject) == ("customer.erased", path.rpartition("/")[2])
    assert entry.details == {"product": str(context_api.company.product_id), "rows": 12, "keepsRefusal": False}
    assert owner.get(path).status_code == 404
    assert send(owner, f"{PAGE}/search", PAGE, user_ref=REFERENCES["userRef"]).status_code == 404
    assert context_api.context_values(**REFERENCES) == {}
    assert context_api.context_values(userRef="u2")


def test_a_no_stays_unless_it_is_to_be_forgotten(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.choose(context_api.ask(userRef="u1").json, "declined")
    context_api.answer(context_api.ask(userRef="u1", purpose=ADVERTISING).json, item("content.format", "audio"))
    path = find(owner, user_ref="u1")
    page = owner.get(f"{path}/erase").text
    assert f"The recorded no to {PERSONALIZATION}, with the digests of the references" in text_of(page)
    response = confirm(owner, f"{path}/erase")
    assert response.location.partition("?")[0] == path
    page = owner.get(response.location).text
    assert "The recorded no stays" in page
    assert "None is kept" in text_of(page)
    assert context_api.ask(userRef="u1").json["state"] == "declined"
    confirm(owner, f"{path}/erase", forget_refusals="y")
    assert owner.get(path).status_code == 404
    assert context_api.ask(userRef="u1").json["state"] == "answer_ready"


def test_an_opt_out_is_of_one_purpose(owner: FlaskClient, context_api: ContextApi) -> None:
    for purpose in (PERSONALIZATION, ADVERTISING):
        answered = item("content.format", "audio", remember=True)
        context_api.answer(context_api.ask(userRef="u1", purpose=purpose).json, answered)
    open_request = context_api.ask(userRef="u1", purpose=ADVERTISING).json
    path = find(owner, user_ref="u1")
    step = f"{path}/opt-out/{ADVERTISING}"
    assert "in every environment of Example product: 1." in text_of(owner.get(step).text)
    assert context_api.context_values(ADVERTISING, userRef="u1")
    response = confirm(owner, step)
    assert "The customer is opted out" in owner.get(response.location).text
    assert context_api.context_values(ADVERTISING, userRef="u1") == {}
    assert context_api.context_values(userRef="u1") == {"content.format": "audio"}
    assert context_api.inspect(open_request).json["state"] == "declined"
    assert context_api.ask(userRef="u1", purpose=ADVERTISING).json["state"] == "declined"
    assert f"opt-out/{ADVERTISING}" not in owner.get(path).text


def test_an_opt_out_is_on_record_with_what_it_replaced(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.choose(context_api.ask(userRef="u1").json, "approved")
    path = find(owner, user_ref="u1")
    confirm(owner, f"{path}/opt-out/{PERSONALIZATION}")
    entry = last_entry()
    assert (entry.action, entry.subject) == ("customer.opted_out", path.rpartition("/")[2])
    assert entry.details == {
        "product": str(context_api.company.product_id),
        "before": {PERSONALIZATION: "approved"},
        "after": {PERSONALIZATION: "declined"},
    }


def test_an_unknown_purpose_is_not_found(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.ask(userRef="u1")
    path = find(owner, user_ref="u1")
    assert owner.get(f"{path}/opt-out/research").status_code == 404
    assert send(owner, f"{path}/opt-out/research", PAGE).status_code == 404


@pytest.mark.parametrize("step", ["export", "erase", f"opt-out/{PERSONALIZATION}"])
def test_no_step_is_done_without_the_token_of_a_form(owner: FlaskClient, context_api: ContextApi, step: str) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    before = last_entry().id
    assert owner.post(f"{path}/{step}").status_code == 403
    assert owner.post(f"{PAGE}/search", data={"user_ref": REFERENCES["userRef"]}).status_code == 403
    assert last_entry().id == before
    assert context_api.context_values(**REFERENCES)


def test_somebody_erased_meanwhile_is_not_found(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.ask(userRef="u1")
    path = find(owner, user_ref="u1")
    forms = {step: fields(owner.get(f"{path}/{step}")) for step in ("export", "erase", f"opt-out/{PERSONALIZATION}")}
    confirm(owner, f"{path}/erase")
    for step, form in forms.items():
        response = owner.post(f"{path}/{step}", data=form)
        assert response.status_code == 404
        assert "There is no customer with this id" in unescape(re.sub(r"<[^>]*>", "", response.text))
