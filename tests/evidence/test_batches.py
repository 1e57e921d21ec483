"""POST /api/v1/evidence/http-requests/batches: what is taken and what is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.evidence.models import EvidenceChange, EvidenceEvent
from app.evidence.rules import SOURCE_KINDS
from app.products.rules import KeyKind
from app.products.service import create_key
from app.screening.payload import FORBIDDEN_KEYS
from config.allowlist import ALLOWLIST, read_allowlist
from tests.factories import SOURCE, Company, bearer, observation, send_evidence

URL = "/api/v1/evidence/http-requests/batches"
SERVICE_ALLOWLIST = read_allowlist(ALLOWLIST.read_text())

ABSENT = [
    *("ip", "clientIp", "userAgent", "path", "url", "query", "headers", "cookies", "body"),
    *("customer", "customerRef", "session", "sessionRef", "interaction", "interactionId"),
    *("aeoRun", "conversion", "revenue", "outcome"),
]


def count() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(EvidenceEvent)) or 0


def send(client: FlaskClient, company: Company, body: Any) -> Any:
    return client.post(URL, json=body, headers=bearer(company.company_key))


def batch(**changed: Any) -> dict[str, Any]:
    return {"schemaVersion": 1, "source": SOURCE, "events": [observation()], **changed}


def test_a_batch_is_stored_before_it_is_answered(client: FlaskClient, company: Company) -> None:
    event = observation(
        observedAt="2026-01-31T12:00:00.250+02:00",
        method="HEAD",
        responseStatus=404,
        agentToken="Claude-User",
        networkEvidence={"method": "cloudflare_verified_bot"},
        referrerHost="claude.ai",
    )
    event["observedAt"] = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    response = send_evidence(client, company, event)
    assert (response.status_code, response.json) == (200, {"accepted": 1, "duplicates": 0, "expired": 0})
    assert response.headers["Cache-Control"] == "private, no-store"
    with transaction():
        row = session().scalars(select(EvidenceEvent)).one()
    assert (row.source_kind, row.source_provider, row.method, row.response_status) == (
        "cdn_log",
        "example-cdn",
        "HEAD",
        404,
    )
    assert (row.agent_token, row.actor_provider, row.fetch_class) == ("Claude-User", "anthropic", "user_fetch")
    assert (row.network_method, row.referrer_host, row.referral_provider) == (
        "cloudflare_verified_bot",
        "claude.ai",
        "anthropic",
    )
    assert row.observed_at.isoformat() == event["observedAt"]


def test_no_id_is_stored_as_it_came(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation("event_0000_very_telling"), source={"sourceId": "source_very_telling"})
    with transaction():
        row = session().scalars(select(EvidenceEvent)).one()
        columns = {column.name: getattr(row, column.name) for column in EvidenceEvent.__table__.columns}
    assert len(row.digest) == len(row.source_digest) == 32
    assert not [name for name, value in columns.items() if "telling" in str(value)]
    assert not [name for name, value in columns.items() if isinstance(value, bytes) and b"telling" in value]


@pytest.mark.parametrize("key", sorted(FORBIDDEN_KEYS))
def test_no_forbidden_key_is_taken_anywhere(client: FlaskClient, company: Company, key: str) -> None:
    nested_source = {**SOURCE, key: "x"}
    for body in (batch(**{key: "x"}), batch(source=nested_source), batch(events=[observation(**{key: "x"})])):
        response = send(client, company, body)
        assert (response.status_code, response.json["errors"][0]["code"]) == (400, "forbidden_content")
    assert count() == 0


@pytest.mark.parametrize("key", ABSENT)
def test_there_is_no_field_for_what_evidence_must_not_hold(client: FlaskClient, company: Company, key: str) -> None:
    nested_source = {**SOURCE, key: "x"}
    for body in (batch(**{key: "x"}), batch(source=nested_source), batch(events=[observation(**{key: "x"})])):
        response = send(client, company, body)
        assert (response.status_code, response.json["errors"][0]["code"]) == (400, "unknown_field")
    assert count() == 0


BAD_EVENTS = [
    ({"eventId": "short"}, "/eventId", "length"),
    ({"eventId": "x" * 129}, "/eventId", "length"),
    ({"eventId": "with space"}, "/eventId", "pattern"),
    ({"eventId": "somebody@example.com"}, "/eventId", "pattern"),
    ({"eventId": "203.0.113.7"}, "/eventId", "format"),
    ({"eventId": "203.0.113.7:8080"}, "/eventId", "format"),
    ({"eventId": "2001:db8::7:1"}, "/eventId", "format"),
    ({"eventId": "::ffff:203.0.113.7"}, "/eventId", "format"),
    ({"observedAt": "2026-01-31T12:00:00"}, "/observedAt", "format"),
    ({"observedAt": 1700000000}, "/observedAt", "type"),
    ({"method": "POST"}, "/method", "enum"),
    ({"method": "get"}, "/method", "enum"),
    ({"responseStatus": 99}, "/responseStatus", "range"),
    ({"responseStatus": 600}, "/responseStatus", "range"),
    ({"responseStatus": "200"}, "/responseStatus", "type"),
    ({"agentToken": None, "referrerHost": "claude.ai"}, "/agentToken", "type"),
    ({"agentToken": "ClaudeBot", "networkEvidence": None}, "/networkEvidence", "type"),
    ({"agentToken": "ClaudeBot", "networkEvidence": {}}, "/networkEvidence/method", "required"),
    ({"agentToken": "ClaudeBot", "networkEvidence": {"method": "guess"}}, "/networkEvidence/method", "enum"),
    (
        {"agentToken": "ClaudeBot", "networkEvidence": {"method": "bunny_verified_bot"}},
        "/networkEvidence/method",
        "enum",
    ),
    ({"agentToken": "ClaudeBot", "networkEvidence": {"method": "_verified_bot"}}, "/networkEvidence/method", "enum"),
    (
        {"referrerHost": "claude.ai", "networkEvidence": {"method": "published_ip_range"}},
        "/networkEvidence",
        "needs_agent_token",
    ),
    ({"referrerHost": None}, "", "required"),
]


@pytest.mark.parametrize(("wrong", "pointer", "code"), BAD_EVENTS, ids=lambda value: str(value)[:50])
def test_a_bad_event_is_told_what_is_wrong_and_nothing_is_stored(
    client: FlaskClient, company: Company, wrong: dict[str, Any], pointer: str, code: str
) -> None:
    response = send_evidence(client, company, observation(), observation(**wrong))
    assert response.status_code == 422
    assert [(problem["pointer"], problem["code"]) for problem in response.json["errors"]] == [
        (f"/events/1{pointer}", code)
    ]
    assert count() == 0


@pytest.mark.parametrize(
    ("wrong", "pointer", "code"),
    [
        ({"schemaVersion": 2}, "/schemaVersion", "range"),
        ({"schemaVersion": "1"}, "/schemaVersion", "type"),
        ({"source": {**SOURCE, "kind": "rumour"}}, "/source/kind", "enum"),
        ({"source": {**SOURCE, "provider": "Example"}}, "/source/provider", "pattern"),
        ({"source": {**SOURCE, "provider": "x" * 65}}, "/source/provider", "length"),
        ({"source": {**SOURCE, "sourceId": "198.51.100.20"}}, "/source/sourceId", "format"),
        ({"source": {**SOURCE, "sourceId": "2001:DB8:0:0:0:0:0:1"}}, "/source/sourceId", "format"),
        ({"source": {"kind": "cdn_log", "provider": "cdn"}}, "/source/sourceId", "required"),
        ({"events": []}, "/events", "length"),
        ({"events": [observation(f"event_{number:032}") for number in range(501)]}, "/events", "length"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_a_bad_batch_is_told_what_is_wrong(
    client: FlaskClient, company: Company, wrong: dict[str, Any], pointer: str, code: str
) -> None:
    response = send(client, company, batch(**wrong))
    assert response.status_code == 422
    assert [(problem["pointer"], problem["code"]) for problem in response.json["errors"]] == [(pointer, code)]


@pytest.mark.parametrize("member", ["eventId", "observedAt", "method", "responseStatus"])
def test_a_required_field_is_required(client: FlaskClient, company: Company, member: str) -> None:
    event = observation()
    del event[member]
    response = send_evidence(client, company, event)
    assert (response.status_code, response.json["errors"][0]["code"]) == (422, "required")


@pytest.mark.parametrize("kind", SOURCE_KINDS)
def test_every_kind_of_source_may_send(client: FlaskClient, company: Company, kind: str) -> None:
    assert send_evidence(client, company, observation(), source={"kind": kind}).json["accepted"] == 1


def test_five_hundred_events_are_taken_at_once(client: FlaskClient, company: Company) -> None:
    response = send_evidence(client, company, *(observation() for _ in range(500)))
    assert response.json == {"accepted": 500, "duplicates": 0, "expired": 0}
    assert count() == 500


def test_everything_on_the_allowlist_is_taken_and_counted_by_its_provider(
    client: FlaskClient, company: Company
) -> None:
    events = [observation(agentToken=token) for token in SERVICE_ALLOWLIST.agents]
    events += [observation(referrerHost=host) for host in SERVICE_ALLOWLIST.referrers]
    methods = [{"method": method} for method in SERVICE_ALLOWLIST.network_methods]
    events += [observation(agentToken="GPTBot", networkEvidence=method) for method in methods]
    assert send_evidence(client, company, *events).json["accepted"] == len(events) == 17 + 11 + 7
    with transaction():
        rows = session().scalars(select(EvidenceEvent)).all()
    for row in rows:
        if row.agent_token:
            agent = SERVICE_ALLOWLIST.agents[row.agent_token]
            assert (row.actor_provider, row.fetch_class) == (agent.provider, agent.fetch_class)
        if row.referrer_host:
            assert row.referral_provider == SERVICE_ALLOWLIST.referrers[row.referrer_host].provider


@pytest.mark.parametrize(
    "token",
    ["gptbot", "GPTBot ", "GPTBot/1.2", "Mozilla/5.0 (compatible; GPTBot/1.2)", "", "MyBot", "x" * 5000, "GPTBot\x00"],
    ids=lambda token: repr(token[:20]),
)
def test_a_token_is_taken_exactly_or_not_at_all(client: FlaskClient, company: Company, token: str) -> None:
    response = send_evidence(client, company, observation(), observation(agentToken=token))
    assert (response.status_code, response.json["code"]) == (422, "token_not_allowed")
    problem = response.json["errors"][0]
    assert (problem["pointer"], problem["code"]) == ("/events/1/agentToken", "token_not_allowed")
    assert problem["allowed"] == list(SERVICE_ALLOWLIST.agents)
    assert count() == 0


def test_what_is_refused_is_not_repeated(client: FlaskClient, company: Company) -> None:
    wrong = observation("telling@example", agentToken="TellingBot", referrerHost="telling.example")
    for body in (batch(events=[wrong]), batch(events=[{**wrong, "eventId": "event_0001"}])):
        response = send(client, company, body)
        assert response.status_code == 422
        assert "telling" not in response.text.lower()


@pytest.mark.parametrize(
    "host",
    [
        "ChatGPT.com",
        "chatgpt.com.",
        "chatgpt.com:443",
        "https://chatgpt.com/",
        "www.chatgpt.com",
        "chatgpt.com.example.org",
        "notchatgpt.com",
        "chatgpt.co",
        "www.google.com",
        "www.bing.com",
        "сhatgpt.com",
        "",
    ],
)
def test_a_host_is_taken_exactly_or_not_at_all(client: FlaskClient, company: Company, host: str) -> None:
    response = send_evidence(client, company, observation(), observation(referrerHost=host))
    assert (response.status_code, response.json["code"]) == (422, "host_not_allowed")
    assert response.json["errors"][0]["pointer"] == "/events/1/referrerHost"
    assert count() == 0


def test_a_null_referrer_host_is_none(client: FlaskClient, company: Company) -> None:
    assert send_evidence(client, company, observation(agentToken="GPTBot", referrerHost=None)).json["accepted"] == 1


def test_five_minutes_ahead_is_the_most(client: FlaskClient, company: Company) -> None:
    in_four_minutes, in_six_minutes = (datetime.now(UTC) + timedelta(minutes=minutes) for minutes in (4, 6))
    assert send_evidence(client, company, observation(observedAt=in_four_minutes.isoformat())).json["accepted"] == 1
    response = send_evidence(client, company, observation(observedAt=in_six_minutes.isoformat()))
    assert (response.status_code, response.json["errors"][0]["pointer"]) == (422, "/events/0/observedAt")


def test_who_may_send(client: FlaskClient, company: Company) -> None:
    with transaction():
        product_key = create_key(company.environment_id, KeyKind.PRODUCT, has_company_right=True).text
    for token, status in (
        (company.company_key, 200),
        (product_key, 200),
        (company.product_key, 401),
        (company.capability(), 401),
        ("af_company_" + "0" * 32 + "_" + "x" * 43, 401),
    ):
        assert client.post(URL, json=batch(), headers=bearer(token)).status_code == status
    assert client.post(URL, json=batch()).status_code == 401
    client.set_cookie("session", company.company_key)
    assert client.post(URL, json=batch()).status_code == 401


def test_a_body_above_a_mebibyte_is_413(client: FlaskClient, company: Company) -> None:
    response = client.post(URL, data=b" " * (1024 * 1024 + 1), headers=bearer(company.company_key))
    assert response.status_code == 413


def test_a_refused_batch_changes_no_count(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation(), observation(agentToken="MyBot"))
    with transaction():
        assert session().scalar(select(func.count()).select_from(EvidenceChange)) == 0
