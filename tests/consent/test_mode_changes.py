"""An environment whose mode changes: a use can be decided, or it has been; never neither."""

import itertools
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import transaction
from app.products import service as products
from app.products.rules import Mode
from tests.factories import Company, bearer, found_company, send_review

SUBJECT = "afsub1_" + "S" * 43
ASKING = (Mode.ASK_ONCE, Mode.ASK_ALWAYS)
CHANGES = [
    *itertools.product(ASKING, ASKING),
    (Mode.ASK_ALWAYS, Mode.OFF, Mode.ASK_ONCE),
    (Mode.ASK_ONCE, Mode.NEVER_ASK, Mode.ASK_ALWAYS),
]
DECISIONS = (None, "approved", "declined")
STATES = {None: "consent_required", "approved": "feedback_ready", "declined": "declined"}


def change_mode(app: Flask, company: Company, mode: Mode) -> None:
    with transaction():
        products.set_environment(company.environment_id, mode=mode)
    app.extensions["key_cache"].clear()


def introspect(client: FlaskClient, token: str) -> Any:
    return client.post("/api/v2/capabilities/introspect", headers=bearer(token)).json


def decide(client: FlaskClient, token: str, decision: str) -> Any:
    return client.post("/api/v2/consent/decisions", json={"decision": decision}, headers=bearer(token)).json


@pytest.mark.parametrize(
    ("modes", "subject", "own", "later"),
    list(itertools.product(CHANGES, (None, SUBJECT), DECISIONS, DECISIONS[1:])),
)
def test_after_every_change_a_use_can_be_decided_or_has_been(
    app: Flask, client: FlaskClient, modes: tuple[Mode, ...], subject: str | None, own: str | None, later: str
) -> None:
    with transaction():
        company = found_company(modes[0])
    token = company.capability(**({"subject": subject, "revision": 0} if subject else {}))
    if own:
        decide(client, token, own)
    for mode in modes[1:]:
        change_mode(app, company, mode)
    before = introspect(client, token)
    assert before["state"] == STATES[own]
    assert (before["canonicalQuestion"] is None) is (own is not None)
    decided = decide(client, token, later)
    assert decided["changed"] is (own is None)
    assert decided["state"] == STATES[own or later] == introspect(client, token)["state"]
    assert (decided["feedback"] is not None) is ((own or later) == "approved")
    assert send_review(client, token).status_code == (200 if (own or later) == "approved" else 403)


@pytest.mark.parametrize("decision", ["approved", "declined"])
def test_a_decision_about_one_use_answers_no_later_use(app: Flask, client: FlaskClient, decision: str) -> None:
    with transaction():
        company = found_company(Mode.ASK_ALWAYS)
    decide(client, company.capability(subject=SUBJECT, revision=0), decision)
    change_mode(app, company, Mode.ASK_ONCE)
    assert introspect(client, company.capability(subject=SUBJECT, revision=0))["state"] == "consent_required"


def test_a_remembered_refusal_ends_an_approval_of_one_use(app: Flask, client: FlaskClient) -> None:
    with transaction():
        company = found_company(Mode.ASK_ALWAYS)
    token = company.capability(subject=SUBJECT, revision=0)
    decide(client, token, "approved")
    change_mode(app, company, Mode.ASK_ONCE)
    decide(client, company.capability(subject=SUBJECT, revision=0), "declined")
    assert introspect(client, token)["state"] == "declined"
    replay = decide(client, token, "approved")
    assert (replay["state"], replay["feedback"]) == ("declined", None)
