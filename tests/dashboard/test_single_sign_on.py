"""Signing in at an OpenID provider."""

import base64
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from app.accounts.models import AuditEntry, User, UserIdentity
from app.core.database import session, transaction
from tests.accounts.fixtures import NOW, Device
from tests.accounts.providers import BEGIN, CALLBACK, Configure, HostileProvider, RunningProvider, come_back
from tests.cli.test_commands import run
from tests.factories import Company, cookie_name, sign_in

COOKIE = cookie_name("oidc")


def path_of(url: str) -> str:
    assert url.startswith(CALLBACK)
    return url.removeprefix("http://127.0.0.1:8000")


def sign_in_at(client: FlaskClient, provider: RunningProvider, subject: str, path: str = BEGIN) -> TestResponse:
    """Sign in at the provider and come back."""
    return client.get(path_of(provider.authenticate(client.get(path).location, subject)))


def users() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(User)) or 0


def identities() -> list[str]:
    with transaction():
        return list(session().scalars(select(UserIdentity.subject)))


def actions() -> list[str]:
    with transaction():
        return list(session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def test_a_user_signs_in_by_verified_email_address_and_is_known_by_subject_afterwards(
    app: Flask, client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    provider.add_user("alice", email=company.email.upper(), email_verified=True)
    answer = sign_in_at(client, provider, "alice", f"{BEGIN}?next=/account")
    assert (answer.status_code, answer.location) == (303, "/account")
    assert client.get("/api/session").json["user"]["email"] == company.email
    assert client.get_cookie(COOKIE) is None
    assert identities() == ["alice"]
    provider.add_user("alice", email="renamed@example.com", email_verified=False)
    again = app.test_client()
    assert sign_in_at(again, provider, "alice", f"{BEGIN}?next=/sign-out").location == "/"
    assert again.get("/api/session").json["user"]["email"] == company.email
    assert actions().count("identity.linked") == 1


@pytest.mark.parametrize("claims", [{"email_verified": False}, {}, {"email_verified": "true"}, {"email_verified": 1}])
def test_an_unverified_email_address_signs_nobody_in(
    client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure, claims: dict[str, Any]
) -> None:
    configure(provider.settings)
    provider.add_user("mallory", email=company.email, **claims)
    answer = sign_in_at(client, provider, "mallory")
    assert (answer.status_code, "Nobody here has this identity" in answer.text) == (401, True)
    assert client.get("/account").status_code == 303
    assert identities() == []
    assert actions()[-1] == "sign_in.failed"


def test_nobody_is_created(
    client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    provider.add_user("stranger", email="stranger@example.com", email_verified=True)
    assert sign_in_at(client, provider, "stranger").status_code == 401
    assert users() == 1


def test_another_subject_with_the_same_email_address_is_another_person(
    app: Flask, client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    for subject, status in (("first", 303), ("second", 401)):
        provider.add_user(subject, email=company.email, email_verified=True)
        assert sign_in_at(app.test_client(), provider, subject).status_code == status
    run(app, "user", "set", company.email, "--no-identity")
    assert sign_in_at(client, provider, "second").status_code == 303
    assert identities() == ["second"]


def test_a_second_factor_is_asked_for_here_too(
    app: Flask, client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure, device: Device
) -> None:
    configure(hostile.settings)
    now = int(NOW.timestamp())
    hostile.claims = {"email": company.email, "iat": now, "exp": now + 300}
    answer = come_back(client, hostile)
    assert answer.location == "/sign-in/code"
    assert client.get("/account").status_code == 303


def test_signing_in_ends_the_presented_session(
    app: Flask, client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    provider.add_user("alice", email=company.email, email_verified=True)
    old_token = sign_in(client, company).headers["Set-Cookie"].partition("=")[2].partition(";")[0]
    assert sign_in_at(client, provider, "alice").status_code == 303
    other_client = app.test_client()
    other_client.set_cookie(cookie_name("session"), old_token)
    assert (other_client.get("/api/session").status_code, client.get("/api/session").status_code) == (401, 200)


def test_the_request_has_pkce_state_and_nonce_and_its_answer_the_verifier(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure
) -> None:
    configure(hostile.settings)
    query = parse_qs(urlsplit(client.get(BEGIN).location).query)
    assert {name: query[name] for name in ("response_type", "scope", "redirect_uri", "code_challenge_method")} == {
        "response_type": ["code"],
        "scope": ["openid email"],
        "redirect_uri": [CALLBACK],
        "code_challenge_method": ["S256"],
    }
    assert all(len(query[name][0]) >= 43 for name in ("state", "nonce", "code_challenge"))
    assert client.get(BEGIN).location != client.get(BEGIN).location
    hostile.claims = {"email": company.email}
    assert come_back(client, hostile).status_code == 303
    (path, headers, form) = next(entry for entry in hostile.requests if entry[0] == "/token")
    assert (path, form["code"], form["redirect_uri"]) == ("/token", "a-code", CALLBACK)
    assert len(form["code_verifier"]) >= 43
    assert headers["Authorization"] == "Basic " + base64.b64encode(b"the-client:the-secret").decode()


def test_an_answer_to_another_request_is_rejected(
    app: Flask, client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    provider.add_user("mallory", email=company.email, email_verified=True)
    attackers_answer = path_of(provider.authenticate(app.test_client().get(BEGIN).location, "mallory"))
    assert client.get(attackers_answer).status_code == 401
    client.get(BEGIN)
    assert client.get(attackers_answer).status_code == 401
    assert client.get("/account").status_code == 303


@pytest.mark.parametrize(
    "changes", [{"state": ""}, {"state": "x" * 64}, {"code": ""}, {"code": "", "error": "access_denied"}]
)
def test_an_incomplete_answer_is_rejected(
    client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure, changes: dict[str, str]
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": company.email}
    assert come_back(client, hostile, **changes).status_code == 401
    assert [path for path, _, _ in hostile.requests if path == "/token"] == []


def test_an_answer_is_of_use_once(
    app: Flask, client: FlaskClient, company: Company, provider: RunningProvider, configure: Configure
) -> None:
    configure(provider.settings)
    provider.add_user("alice", email=company.email, email_verified=True)
    location = client.get(BEGIN).location
    cookie = client.get_cookie(COOKIE)
    assert cookie
    answer = path_of(provider.authenticate(location, "alice"))
    assert client.get(answer).status_code == 303
    other_client = app.test_client()
    other_client.set_cookie(COOKIE, cookie.value)
    assert other_client.get(answer).status_code == 401
    assert other_client.get("/account").status_code == 303
