"""Answers of an OpenID provider that prove nothing, or do not come."""

import base64
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import OctKey

from app.accounts import oidc
from app.accounts.rules import ADDRESS_LIMIT, Limit
from config.settings import OidcProvider, Secret
from tests.accounts.providers import BEGIN, Configure, HostileProvider, come_back, signing_key
from tests.factories import Company
from tests.journeys.stack import free_port

NOW_S = int(time.time())


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "another"},
        {"nonce": None},
        {"aud": "another-client"},
        {"aud": ["another-client", "a-third"]},
        {"aud": "another-client", "azp": "the-client"},
        {"aud": ["the-client", "another-client"], "azp": "another-client"},
        {"iss": "https://evil.example"},
        {"iss": None},
        {"exp": NOW_S - 3600},
        {"exp": None},
        {"sub": None},
        {"iat": NOW_S + 36000, "nbf": NOW_S + 36000},
    ],
)
def test_an_id_token_with_wrong_claims_is_rejected(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure, claims: dict[str, Any]
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": company.email, **claims}
    answer = come_back(client, hostile)
    assert (answer.status_code, "did not confirm" in answer.text) == (401, True)
    assert client.get("/account").status_code == 303


def unsigned(claims: dict[str, Any]) -> str:
    parts = [json.dumps(part).encode() for part in ({"alg": "none", "kid": "1"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts) + "."


FORGERIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "unsigned": unsigned,
    "signed with another key": lambda claims: jwt.encode({"alg": "RS256", "kid": "1"}, claims, signing_key("another")),
    "signed with the client's secret": lambda claims: jwt.encode(
        {"alg": "HS256", "kid": "1"}, claims, OctKey.import_key(b"the-secret-" * 4, {"kid": "1"}), algorithms=["HS256"]
    ),
    "no token": lambda _: "nonsense",
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_an_id_token_without_the_providers_signature_is_rejected(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure, forgery: str
) -> None:
    configure(hostile.settings)
    hostile.claims, hostile.sign = {"email": company.email}, FORGERIES[forgery]
    assert come_back(client, hostile).status_code in (401, 503)
    assert client.get("/account").status_code == 303


@pytest.mark.parametrize("subject", ["subject-1", "another"])
def test_an_address_that_is_not_in_the_token_is_asked_for(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure, subject: str
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": None, "email_verified": None}
    hostile.user_info = {"sub": subject, "email": company.email, "email_verified": True}
    assert come_back(client, hostile).status_code == (303 if subject == "subject-1" else 401)
    headers = next(headers for path, headers, _ in hostile.requests if path == "/userinfo")
    assert headers["Authorization"] == "Bearer an-access-token"


def test_the_secret_goes_into_the_form_where_the_provider_wants_it_there(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure
) -> None:
    configure(hostile.settings)
    hostile.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    hostile.claims = {"email": company.email}
    assert come_back(client, hostile).status_code == 303
    form = next(form for path, _, form in hostile.requests if path == "/token")
    assert (form["client_id"], form["client_secret"]) == ("the-client", "the-secret")


def test_a_provider_that_is_away_is_said_so_and_not_asked_again_at_once(
    client: FlaskClient, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(OidcProvider(f"http://127.0.0.1:{free_port()}", "the-client", Secret("the-secret")))
    answer = client.get(BEGIN)
    assert (answer.status_code, "did not answer" in answer.text) == (503, True)
    assert "Retry-After" in answer.headers
    monkeypatch.setattr(oidc.OidcClient, "_discover", lambda _: pytest.fail("it was asked again"))
    assert client.get(BEGIN).status_code == 503


def test_a_provider_that_hangs_is_waited_for_for_seconds(
    client: FlaskClient, hostile: HostileProvider, configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(oidc.TIMEOUTS_S) <= 5
    monkeypatch.setattr(oidc, "TIMEOUTS_S", (0.2, 0.2))
    configure(hostile.settings)
    hostile.delay_s = 1
    began = time.monotonic()
    assert client.get(BEGIN).status_code == 503
    assert time.monotonic() - began < 0.9


@pytest.mark.parametrize(
    "metadata", [{"issuer": "https://evil.example"}, {"issuer": 1}, {"authorization_endpoint": None, "issuer": None}]
)
def test_metadata_of_another_issuer_is_refused(
    client: FlaskClient, hostile: HostileProvider, configure: Configure, metadata: dict[str, Any]
) -> None:
    configure(hostile.settings)
    hostile.metadata = metadata
    assert client.get(BEGIN).status_code == 503


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri"])
@pytest.mark.parametrize("value", [None, 1, "ftp://example.com"])
def test_metadata_without_a_required_url_are_refused(
    client: FlaskClient, hostile: HostileProvider, configure: Configure, name: str, value: Any
) -> None:
    configure(hostile.settings)
    hostile.metadata = {name: value}
    assert client.get(BEGIN).status_code == 503


@pytest.mark.parametrize(
    "metadata", [{"authorization_endpoint": "http://["}, {"token_endpoint_auth_methods_supported": 1}]
)
def test_metadata_that_no_request_can_be_made_of_are_refused(
    client: FlaskClient, hostile: HostileProvider, configure: Configure, metadata: dict[str, Any]
) -> None:
    configure(hostile.settings)
    hostile.metadata = metadata
    assert client.get(BEGIN).status_code == 503


def test_metadata_is_asked_for_once(client: FlaskClient, hostile: HostileProvider, configure: Configure) -> None:
    configure(hostile.settings)
    for _ in range(3):
        assert client.get(BEGIN).status_code == 303
    assert len(hostile.requests) == 1


def test_in_production_every_address_of_the_provider_is_https(
    production: Flask, hostile: HostileProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_provider = replace(production.extensions["settings"], oidc=hostile.settings)
    monkeypatch.setitem(production.extensions, "settings", with_provider)
    assert production.test_client().get(BEGIN).status_code == 503
    assert len(hostile.requests) == 1


def test_without_a_provider_there_is_no_page_and_no_link(client: FlaskClient) -> None:
    for path in (BEGIN, f"{BEGIN}/callback"):
        assert client.get(path, headers={"Accept": "text/html"}).status_code == 404
    assert "organization" not in client.get("/sign-in").text


def test_the_link_leads_to_the_configured_host(
    client: FlaskClient, hostile: HostileProvider, configure: Configure
) -> None:
    configure(hostile.settings)
    page = client.get("/sign-in?next=/account", headers={"Host": "evil.example"}).text
    assert 'href="http://127.0.0.1:8000/sign-in/oidc?next=%2Faccount"' in page
    assert "evil.example" not in page


@pytest.fixture
def low_address_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let three attempts of an address fail before it has to wait."""
    limit = Limit(3, ADDRESS_LIMIT.reset_after, ADDRESS_LIMIT.max_wait_s)
    monkeypatch.setattr("app.accounts.throttle.ADDRESS_LIMIT", limit)


def test_answers_are_throttled_by_address(
    client: FlaskClient,
    company: Company,
    hostile: HostileProvider,
    configure: Configure,
    low_address_limit: None,
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": company.email, "nonce": "wrong"}
    statuses = [come_back(client, hostile).status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 401, 429]


def test_somebody_unknown_is_throttled_and_somebody_known_is_not(
    client: FlaskClient,
    company: Company,
    hostile: HostileProvider,
    configure: Configure,
    low_address_limit: None,
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": company.email}
    assert [come_back(client, hostile).status_code for _ in range(6)] == [303] * 6
    hostile.claims = {"email": "nobody@example.com", "sub": "nobody"}
    assert [come_back(client, hostile).status_code for _ in range(5)] == [401, 401, 401, 401, 429]
