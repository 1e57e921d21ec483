"""An environment whose mode changes: a use can be decided, or it has been; never neither."""

import itertools
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.database import transaction
from app.products import service as products
from app.products.rules import Mode
from tests.factories import Company, bearer, create_company, send_review

SUBJECT = "afsub1_" + "S" * 43
CONSENT_MODES = (Mode.ASK_ONCE, Mode.ASK_ALWAYS)
CHANGES = [
    *itertools.product(CONSENT_MODES, CONSENT_MODES),
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
    ("modes", "subject", "own_decision", "later_decision"),
    list(itertools.product(CHANGES, (None, SUBJECT), DECISIONS, DECISIONS[1:])),
)
def test_after_every_change_a_use_can_be_decided_or_has_been(
    app: Flask,
    client: FlaskClient,
    modes: tuple[Mode, ...],
    subject: str | None,
    own_decision: str | None,
    later_decision: str,
) -> None:
    with transaction():
        company = create_company(modes[0])
    token = company.capability(**({"subject": subject, "revision": 0} if subject else {}))
    if own_decision:
        decide(client, token, own_decision)
    for mode in modes[1:]:
        change_mode(app, company, mode)
    introspection = introspect(client, token)
    assert introspection["state"] == STATES[own_decision]
    assert (introspection["canonicalQuestion"] is None) is (own_decision is not None)
    decision = decide(client, token, later_decision)
    assert decision["changed"] is (own_decision is None)
    assert decision["state"] == STATES[own_decision or later_decision] == introspect(client, token)["state"]
    assert (decision["feedback"] is not None) is ((own_decision or later_decision) == "approved")
    assert send_review(client, token).status_code == (200 if (own_decision or later_decision) == "approved" else 403)


@pytest.mark.parametrize("decision", ["approved", "declined"])
def test_a_decision_about_one_use_answers_no_later_use(app: Flask, client: FlaskClient, decision: str) -> None:
    with transaction():
        company = create_company(Mode.ASK_ALWAYS)
    decide(client, company.capability(subject=SUBJECT, revision=0), decision)
    change_mode(app, company, Mode.ASK_ONCE)
    assert introspect(client, company.capability(subject=SUBJECT, revision=0))["state"] == "consent_required"


def test_a_remembered_refusal_ends_an_approval_of_one_use(app: Flask, client: FlaskClient) -> None:
    with transaction():
        company = create_company(Mode.ASK_ALWAYS)
    token = company.capability(subject=SUBJECT, revision=0)
    decide(client, token, "approved")
    change_mode(app, company, Mode.ASK_ONCE)
    decide(client, company.capability(subject=SUBJECT, revision=0), "declined")
    assert introspect(client, token)["state"] == "declined"
    replay = decide(client, token, "approved")
    assert (replay["state"], replay["feedback"]) == ("declined", None)
