"""The set-up page has what a product needs, and says what has arrived."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.accounts import users
from app.core.database import transaction
from app.dashboard.set_up import FRAMEWORKS, STOP_POLLING
from app.interactions import service as interactions
from app.products import service as products
from app.products.key_cache import key_cache
from app.telemetry import persistence
from tests.context_api import Clock
from tests.factories import (
    TEST_URL,
    Company,
    bearer,
    create_company,
    create_read_key,
    event,
    send_events,
    send_review,
    sign_in,
)


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def states(client: FlaskClient) -> list[str]:
    return re.findall(r'<li class="(done|open)">', client.get("/set-up/check").text)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_each_framework_has_its_example_with_the_real_endpoint(
    owner: FlaskClient, company: Company, framework: str
) -> None:
    page = unescape(owner.get(f"/set-up?framework={framework}").text)
    assert f"export AGENT_FEEDBACK_URL={TEST_URL}\n" in page
    assert f'aria-current="true">{FRAMEWORKS[framework]}<' in page
    assert "AGENT_FEEDBACK_KEY=…" in page
    installs_python, installs_node = framework not in ("express", "curl"), framework == "express"
    assert (f"pip install {TEST_URL}/sdk/agent_feedback-" in page) is installs_python
    assert (f"npm install {TEST_URL}/sdk/agent-feedback-" in page) is installs_node
    assert company.product_key not in page
    copied = re.findall(r'data-copy="#(\w+) pre"', page)
    assert len(copied) == page.count("<pre>") == len(set(copied))
    assert all(f'<div class="snippet" id="{name}"><pre>' in page for name in copied)


@pytest.mark.parametrize("framework", ["flask", "django", "fastapi", "mcp"])
def test_the_examples_in_python_are_python(owner: FlaskClient, framework: str) -> None:
    page = unescape(owner.get(f"/set-up?framework={framework}").text)
    examples = [text for text in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL) if "import" in text]
    assert len(examples) == 1
    compile(examples[0], framework, "exec")
    assert "AgentFeedback()" in examples[0]


@pytest.mark.parametrize("framework", ["flask", "fastapi"])
def test_the_examples_make_an_application(
    owner: FlaskClient, company: Company, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_KEY", company.product_key)
    monkeypatch.setenv("AGENT_FEEDBACK_URL", TEST_URL)
    page = unescape(owner.get(f"/set-up?framework={framework}").text)
    (example,) = [text for text in re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL) if "import" in text]
    names: dict[str, Any] = {"__name__": "example"}
    exec(example, names)
    adapter = names["app"].wsgi_app if framework == "flask" else names["app"]
    assert type(adapter).__module__.startswith("agent_feedback.adapters.")


def test_the_event_of_the_command_is_accepted(owner: FlaskClient, company: Company) -> None:
    page = unescape(owner.get("/set-up?framework=curl").text)
    (body,) = re.findall(r"-d '(\{\"events\".*?\]\})'</pre>", page, re.DOTALL)
    sent = json.loads(re.sub(r"'\$\([^)]*\)'", "2026-01-01T00:00:00Z", body))
    answer = owner.post("/api/v2/telemetry/batches", json=sent, headers=bearer(company.product_key))
    assert answer.status_code == 202


def test_an_unknown_framework_shows_the_first(owner: FlaskClient) -> None:
    assert 'aria-current="true">Flask<' in owner.get("/set-up?framework=<script>").text


def test_the_check_turns_green_step_by_step(owner: FlaskClient, company: Company) -> None:
    assert states(owner) == ["done", "open", "open"]
    page = owner.get("/set-up").text
    assert 'hx-get="/set-up/check?environment=' in page
    assert "no request has come with one yet" in page
    sent = event()
    send_events(owner, company, sent)
    assert "is being stored" in owner.get("/set-up/check").text
    persistence.persist_waiting_batches()
    assert states(owner) == ["done", "done", "open"]
    send_review(owner, company.capability(sent["interactionId"]))
    assert states(owner) == ["done", "done", "done"]
    page = owner.get("/set-up").text
    assert "hx-get" not in page
    assert owner.get("/set-up/check").status_code == STOP_POLLING
    assert "Look again" not in page


def test_a_review_alone_is_no_telemetry(owner: FlaskClient, company: Company) -> None:
    send_review(owner, company.capability())
    interactions.promote_queued_interactions()
    assert states(owner) == ["done", "open", "done"]


def test_a_key_that_is_refused_is_named(owner: FlaskClient, company: Company, clock: Clock) -> None:
    key_id = company.product_key.split("_")[2]
    send_events(owner, company, event())
    clock.advance(minutes=2)
    with transaction():
        products.revoke_key(key_id)
    key_cache().clear()
    assert "A key is refused" not in owner.get("/set-up").text
    assert send_events(owner, company, event()).status_code == 401
    page = owner.get("/set-up").text
    assert "A key is refused" in page
    assert key_id[:12] in page
    assert states(owner)[0] == "open"
    with transaction():
        key = products.create_key(company.environment_id, products.KeyKind.PRODUCT)
    clock.advance(minutes=2)
    owner.post("/api/v2/telemetry/batches", json={"events": [event()]}, headers=bearer(key.text))
    assert "A key is refused" not in owner.get("/set-up").text


def refuse(client: FlaskClient, key: str) -> str:
    """Send telemetry with a key that is refused; return the words of the check about it."""
    body = {"events": [event()]}
    assert client.post("/api/v2/telemetry/batches", json=body, headers=bearer(key)).status_code == 401
    (words,) = re.findall(r'<p class="error">(.*?)</p>', client.get("/set-up").text, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", words)).split())


def test_a_revoked_key_is_told_from_one_that_has_expired(owner: FlaskClient, company: Company, clock: Clock) -> None:
    with transaction():
        key = products.create_key(company.environment_id, products.KeyKind.PRODUCT, expires_in=timedelta(hours=1))
    clock.advance(minutes=90)
    words = refuse(owner, key.text)
    assert f"{key.id[:12]}…, which has expired" in words
    assert "Put a valid key into its AGENT_FEEDBACK_KEY" in words
    with transaction():
        products.revoke_key(key.id)
    assert "which was revoked" in refuse(owner, key.text)


def test_a_key_whose_text_is_another_is_to_be_copied_again(owner: FlaskClient, company: Company) -> None:
    words = refuse(owner, company.product_key[:-5])
    assert "which is valid" in words
    assert "Its text is not the one that was created: copy it again, or rotate the key for a new one" in words


@pytest.mark.parametrize("kind", ["company", "read"])
def test_a_key_of_another_kind_is_to_be_replaced_by_the_product_key(
    owner: FlaskClient, company: Company, kind: str
) -> None:
    key = company.company_key if kind == "company" else create_read_key(company.environment_id)
    words = refuse(owner, key)
    assert f"which is a {kind} key" in words
    assert "Put the product key into AGENT_FEEDBACK_KEY" in words


def test_what_was_accepted_since_is_not_told_as_refused(owner: FlaskClient, company: Company, clock: Clock) -> None:
    refuse(owner, company.company_key[:-1])
    clock.advance(minutes=2)
    assert owner.post("/api/v2/customer-context", json={}, headers=bearer(company.company_key)).status_code != 401
    assert "A key is refused" not in owner.get("/set-up").text


def test_keys_of_another_environment_are_not_told_of(owner: FlaskClient) -> None:
    with transaction():
        other = create_company()
    owner.post("/api/v2/telemetry/batches", headers=bearer(other.company_key))
    assert "A key is refused" not in owner.get("/set-up").text


def test_the_command_tells_a_valid_key_from_another(owner: FlaskClient, company: Company) -> None:
    assert "/api/v2/consent/state" in owner.get("/set-up").text
    answers = [
        owner.post("/api/v2/consent/state", json={"subjects": []}, headers=bearer(key)).status_code
        for key in (company.product_key, f"{company.product_key}x")
    ]
    assert answers[0] != 401
    assert answers[1] == 401


def test_a_member_reads_the_page(client: FlaskClient, company: Company) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, "member@example.com", "member")
        products.revoke_key(company.product_key.split("_")[2])
    sign_in(client, company, json={"email": user.email, "password": user.password})
    assert "An owner or admin can create one" in client.get("/set-up").text


def test_a_part_of_a_page_is_not_replaced_by_the_sign_in_page(client: FlaskClient) -> None:
    answer = client.get("/set-up/check", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/sign-in")
