"""Each limit trips, tells when to come back, and recovers; each quota counts for its environment and day."""

import re
import signal
import time
import uuid

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.cli.dev.valkey import EmbeddedValkey
from app.core.http import lifecycle
from app.core.limits.counters import SharedCounters
from app.core.limits.server import CounterServer
from app.products.key_cache import CACHE_TTL_S
from tests.context_api import ContextApi, handle
from tests.factories import SESSION_COOKIE, Company, bearer, event, send_events, send_review, sign_in
from tests.limits.conftest import SetLimits, Timer

LONGEST_SENTENCE = 240


def post(client: FlaskClient, path: str, token: str, **options: str) -> TestResponse:
    return client.post(f"/api/v2/{path}", json={}, headers={**bearer(token), **options})


def introspect(client: FlaskClient, token: str) -> TestResponse:
    return post(client, "capabilities/introspect", token)


def assert_limited(response: TestResponse, name: str, amount: int, wait_s: int = 37) -> None:
    assert response.status_code == 429
    assert response.headers["Retry-After"] == str(wait_s)
    assert response.headers["RateLimit-Policy"] == f'"{name}";q={amount};w=60'
    assert response.headers["RateLimit"] == f'"{name}";r=0;t={wait_s}'
    assert response.headers["Cache-Control"] == "no-store"
    body = response.get_json()
    assert (body["code"], body["limit"], body["retryAfterS"]) == ("rate_limited", name, wait_s)
    assert body.keys() == {"error", "code", "requestId", "limit", "retryAfterS"}
    assert f"wait {wait_s} s" in body["error"]
    assert str(amount) in body["error"]
    assert len(body["error"]) < LONGEST_SENTENCE


def test_a_capability_is_limited_and_no_other_is(
    client: FlaskClient, company: Company, set_limits: SetLimits, timer: Timer
) -> None:
    set_limits(capability="2/minute")
    interaction_id = str(uuid.uuid4())
    token = company.capability(interaction_id)
    assert [introspect(client, token).status_code for _ in range(3)] == [200, 200, 429]
    # A second capability of the same interaction buys nothing more.
    assert_limited(introspect(client, company.capability(interaction_id, int(time.time()) - 5)), "capability", 2)
    assert send_review(client, company.capability()).status_code == 200
    timer.now += 37
    assert introspect(client, token).status_code == 200


def test_a_stored_review_is_not_looked_up_for_a_capability_beyond_its_limit(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(capability="1/minute")
    token = company.capability()
    assert send_review(client, token).status_code == 200
    response = send_review(client, token)
    assert_limited(response, "capability", 1)
    exposed = response.headers["Access-Control-Expose-Headers"]
    assert {"Retry-After", "RateLimit", "RateLimit-Policy"} <= set(exposed.split(", "))


def long_report(characters: int) -> dict[str, object]:
    detail = "It took a while. " * 20
    findings = [{"kind": "friction", "topic": "search", "detail": detail[:350]} for _ in range(characters // 350)]
    return {"summary": "The search found the right orders.", "findings": findings}


def test_a_report_counts_by_its_length(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    set_limits(capability="8/minute")
    token = company.capability()
    statuses = [
        client.post("/api/v2/reports", json=long_report(characters), headers=bearer(token)).status_code
        for characters in (350, 1500, 1500, 1500)
    ]
    assert statuses == [200, 200, 200, 429]


def test_the_longest_report_passes_in_a_window_of_its_own(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(capability="2/minute")
    body, headers = long_report(2800), bearer(company.capability())
    assert client.post("/api/v2/reports", json=body, headers=headers).status_code == 200
    assert_limited(client.post("/api/v2/reports", json=body, headers=headers), "capability", 2)


def test_a_handle_is_limited(context_api: ContextApi, set_limits: SetLimits, timer: Timer) -> None:
    set_limits(capability="2/minute")
    requests = [context_api.ask(userRef=f"user_{number}").json for number in range(2)]
    assert [context_api.inspect(requests[0]).status_code for _ in range(2)] == [200, 200]
    assert_limited(context_api.inspect(requests[0]), "capability", 2)
    assert context_api.inspect(requests[1]).status_code == 200
    timer.now += 60
    assert post(context_api.client, "enrichment/requests/inspect", handle(requests[0])).status_code == 200


def test_a_key_is_limited(client: FlaskClient, company: Company, set_limits: SetLimits, timer: Timer) -> None:
    set_limits(key="2/minute")
    assert [send_events(client, company, event()).status_code for _ in range(2)] == [202, 202]
    assert_limited(send_events(client, company, event()), "key", 2)
    assert client.get("/api/v2/enrichment/fields", headers=bearer(company.company_key)).status_code == 200
    assert introspect(client, company.capability()).status_code == 200
    timer.now += 37
    assert send_events(client, company, event()).status_code == 202


def test_a_workspace_is_limited_with_all_its_credentials(
    context_api: ContextApi, client: FlaskClient, company: Company, set_limits: SetLimits, timer: Timer
) -> None:
    request = context_api.ask().json
    assert sign_in(client, company).status_code == 200
    set_limits(workspace="5/minute")
    statuses = [
        send_events(client, company, event()).status_code,
        client.get("/api/v2/enrichment/fields", headers=bearer(company.company_key)).status_code,
        introspect(client, company.capability()).status_code,
        context_api.inspect(request).status_code,
        client.get("/api/session").status_code,
    ]
    assert statuses == [202, 200, 200, 200, 200]
    for response in (
        introspect(client, company.capability()),
        client.get("/api/session"),
        context_api.inspect(request),
    ):
        assert_limited(response, "workspace", 5)
    page = client.get("/", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["Retry-After"], page.mimetype) == (429, "37", "text/html")
    timer.now += 37
    assert client.get("/api/session").status_code == 200


ANYWHERE = ("/.well-known/agent-feedback-v1.json", "/openapi.json", "/nothing", "/api/v2/outcomes")


def test_an_address_is_limited_wherever_it_goes(
    client: FlaskClient, company: Company, set_limits: SetLimits, timer: Timer
) -> None:
    set_limits(address="2/minute")
    assert [client.get("/.well-known/agent-feedback-v1.json").status_code for _ in range(2)] == [200, 200]
    for path in ANYWHERE:
        assert_limited(client.get(path), "address", 2)
    assert_limited(send_events(client, company, event()), "address", 2)
    assert client.get("/docs/").status_code == 429
    elsewhere = client.get("/nothing", environ_base={"REMOTE_ADDR": "203.0.113.9"})
    assert elsewhere.status_code == 404
    timer.now += 37
    assert client.get("/nothing").status_code == 404


def test_an_ipv6_network_is_one_client(client: FlaskClient, set_limits: SetLimits) -> None:
    set_limits(address="1/minute")
    addresses = ["2001:db8:1:2::1", "2001:db8:1:2::2", "2001:db8:1:3::1"]
    statuses = [client.get("/nothing", environ_base={"REMOTE_ADDR": address}).status_code for address in addresses]
    assert statuses == [404, 429, 404]


@pytest.mark.parametrize(("proxies", "statuses"), [(1, [404, 429, 404]), (0, [404, 429, 429])])
def test_the_address_is_what_trusted_proxies_say(
    app: Flask,
    client: FlaskClient,
    set_limits: SetLimits,
    monkeypatch: pytest.MonkeyPatch,
    proxies: int,
    statuses: list[int],
) -> None:
    monkeypatch.setattr(app, "wsgi_app", app.wsgi_app)
    lifecycle.trust_proxies(app, proxies)
    set_limits(address="1/minute")
    chains = ("203.0.113.1, 198.51.100.1", "203.0.113.2, 198.51.100.1", "198.51.100.2")
    assert [client.get("/nothing", headers={"X-Forwarded-For": chain}).status_code for chain in chains] == statuses


def test_health_is_never_limited(client: FlaskClient, set_limits: SetLimits) -> None:
    set_limits(address="1/minute", unauthenticated="1/minute")
    assert [client.get("/nothing").status_code for _ in range(2)] == [404, 429]
    assert {client.get(path).status_code for path in ("/healthz", "/readyz") for _ in range(5)} == {200}


def unknown_key() -> str:
    return f"af_live_{uuid.uuid4().hex}_{'x' * 32}"


def test_what_fails_to_authenticate_is_limited_by_its_address_and_looks_no_more_keys_up(
    app: Flask, client: FlaskClient, company: Company, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(unauthenticated="3/minute")
    assert send_events(client, company, event()).status_code == 202
    assert [post(client, "telemetry/batches", unknown_key()).status_code for _ in range(3)] == [401] * 3
    lookups: list[str] = []
    cache = app.extensions["key_cache"]
    monkeypatch.setattr(cache, "_look_up", lookups.append)
    assert_limited(post(client, "telemetry/batches", unknown_key()), "unauthenticated", 3)
    assert_limited(client.post("/api/v2/outcomes", json={}), "unauthenticated", 3)
    assert lookups == []


def test_a_key_that_is_in_use_is_not_held_up_by_a_neighbour_who_guesses(
    client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(unauthenticated="1/minute")
    assert [client.post("/api/v2/outcomes", json={}).status_code for _ in range(2)] == [401, 429]
    elsewhere = {"REMOTE_ADDR": "203.0.113.9"}
    body = {"events": [event()]}
    headers = bearer(company.product_key)
    path = "/api/v2/telemetry/batches"
    # Known to the process for an hour once another of its callers was let in.
    assert client.post(path, json=body, headers=headers).status_code == 429
    assert client.post(path, json=body, headers=headers, environ_base=elsewhere).status_code == 202
    time.sleep(CACHE_TTL_S)
    assert client.post(path, json=body, headers=headers).status_code == 202


def test_a_guessed_session_is_limited(client: FlaskClient, set_limits: SetLimits) -> None:
    set_limits(unauthenticated="2/minute")
    client.set_cookie(SESSION_COOKIE, "x" * 43)
    assert [client.get("/api/session").status_code for _ in range(2)] == [401, 401]
    assert_limited(client.get("/api/session"), "unauthenticated", 2)


def test_a_session_that_is_guessed_at_the_sign_in_page_is_limited(
    client: FlaskClient, company: Company, set_limits: SetLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(unauthenticated="2/minute")
    assert [client.get("/sign-in").status_code for _ in range(3)] == [200, 200, 200]
    sign_in(client, company)
    assert [client.get("/sign-in").status_code for _ in range(3)] == [303, 303, 303]
    client.set_cookie(SESSION_COOKIE, "x" * 43)
    assert [client.get("/sign-in").status_code for _ in range(2)] == [200, 200]
    monkeypatch.setattr("app.accounts.sessions.find_login", lambda _: pytest.fail("it was looked up"))
    assert client.get("/sign-in").status_code == 429


def test_zero_limits_nothing(client: FlaskClient, company: Company, set_limits: SetLimits) -> None:
    limiter = set_limits()
    token = company.capability()
    assert {introspect(client, token).status_code for _ in range(20)} == {200}
    assert {client.post("/api/v2/outcomes", json={}).status_code for _ in range(20)} == {401}
    assert limiter.counters._counters == {}


def test_without_the_server_nothing_is_limited_and_nobody_waits(
    app: Flask,
    client: FlaskClient,
    company: Company,
    set_limits: SetLimits,
    own_valkey: EmbeddedValkey,
) -> None:
    limits = ("address", "unauthenticated", "capability", "key", "workspace")
    limiter = set_limits(**dict.fromkeys(limits, "1/minute"), reviews=1, events=1)
    limiter.counters = SharedCounters(CounterServer(own_valkey.url, b"x" * 32))
    own_valkey.stop(signal.SIGKILL)
    began = time.monotonic()
    statuses = {send_events(client, company, event()).status_code for _ in range(20)}
    statuses |= {send_review(client, company.capability()).status_code for _ in range(5)}
    assert statuses == {202, 200}
    assert time.monotonic() - began < 3


def test_the_sentence_names_the_limit_as_a_reader_would(client: FlaskClient, set_limits: SetLimits) -> None:
    set_limits(address="1/minute")
    client.get("/nothing")
    sentence = client.get("/nothing").get_json()["error"]
    assert re.fullmatch(
        r"The limit of 1 requests per minute for this client address is reached, and nothing was stored\. "
        r"Please wait 37 s, then send the same request again\.",
        sentence,
    )
