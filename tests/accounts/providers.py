"""OpenID providers: one that we did not write, as a process, and one whose answers a test can falsify."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from flask import Flask
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.test import TestResponse

from config.settings import OidcProvider, Secret, Settings
from tests.journeys.stack import free_port

BEGIN = "/sign-in/oidc"
CALLBACK = "http://127.0.0.1:8000/sign-in/oidc/callback"


@dataclass(frozen=True)
class RunningProvider:
    """A provider process, and this service as one of its registered clients."""

    settings: OidcProvider

    def add_user(self, subject: str, **claims: Any) -> None:
        """Make a user of the provider known, or change the claims of one."""
        requests.put(f"{self.settings.issuer}/users/{subject}", json=claims, timeout=10).raise_for_status()

    def authenticate(self, url: str, subject: str) -> str:
        """Sign in at the provider as a browser would, and return the URL that it redirects to."""
        return requests.post(url, data={"sub": subject}, allow_redirects=False, timeout=10).headers["Location"]


@contextmanager
def run_provider() -> Iterator[RunningProvider]:
    """Run oidc-provider-mock, which checks secrets and redirect URIs of clients and wants a nonce."""
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    options = ("--port", str(port), "--require-registration", "true", "--require-nonce", "true")
    process = subprocess.Popen([sys.executable, "-m", "oidc_provider_mock", *options], stderr=subprocess.DEVNULL)
    try:
        _wait_until_it_answers(issuer, process)
        client = requests.post(f"{issuer}/oauth2/clients", json={"redirect_uris": [CALLBACK]}, timeout=10).json()
        yield RunningProvider(OidcProvider(issuer, client["client_id"], Secret(client["client_secret"])))
    finally:
        process.terminate()
        process.wait(10)


def _wait_until_it_answers(issuer: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            requests.get(f"{issuer}/.well-known/openid-configuration", timeout=5).raise_for_status()
        except requests.RequestException:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError("the provider did not start")


@cache
def signing_key(name: str) -> RSAKey:
    """Return a key, which takes long to make."""
    return RSAKey.generate_key(2048, {"kid": "1", "name": name})


@dataclass
class HostileProvider:
    """A provider that answers as a test says."""

    issuer: str = ""
    key: RSAKey = field(default_factory=lambda: signing_key("the provider"))
    metadata: dict[str, Any] = field(default_factory=dict)
    """Replace members of the metadata; None removes one."""
    sign: Callable[[dict[str, Any]], str] | None = None
    """Replaces the signature of the ID token."""
    claims: dict[str, Any] = field(default_factory=dict)
    """Replace claims of the ID token; None removes one."""
    user_info: dict[str, Any] = field(default_factory=dict)
    delay_s: float = 0
    nonce: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    """Path, headers and form of each request."""

    @property
    def settings(self) -> OidcProvider:
        return OidcProvider(self.issuer, "the-client", Secret("the-secret"))

    def answer(self, path: str) -> dict[str, Any]:
        """Return the answer to a request."""
        if path.endswith("openid-configuration"):
            metadata = {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "userinfo_endpoint": f"{self.issuer}/userinfo",
                **self.metadata,
            }
            return {name: value for name, value in metadata.items() if value is not None}
        if path == "/jwks":
            return {"keys": [self.key.as_dict(private=False), {"kty": "future", "kid": "2"}]}
        if path == "/userinfo":
            return self.user_info
        return {"access_token": "an-access-token", "token_type": "Bearer", "id_token": self._id_token()}

    def _id_token(self) -> str:
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": "the-client",
            "sub": "subject-1",
            "iat": now,
            "exp": now + 300,
            "nonce": self.nonce,
            "email": "nobody@example.com",
            "email_verified": True,
            **self.claims,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        return self.sign(claims) if self.sign else jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.key)


@contextmanager
def run_hostile_provider() -> Iterator[HostileProvider]:
    """Serve a hostile provider from a thread."""
    provider = HostileProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            form = {name: values[0] for name, values in parse_qs(body).items()}
            provider.requests.append((self.path, dict(self.headers), form))
            time.sleep(provider.delay_s)
            answer = json.dumps(provider.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def provider() -> Iterator[RunningProvider]:
    with run_provider() as running:
        yield running


@pytest.fixture
def hostile() -> Iterator[HostileProvider]:
    with run_hostile_provider() as running:
        yield running


Configure = Callable[[OidcProvider], None]


@pytest.fixture
def configure(app: Flask, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Configure:
    """Return a function that configures the app with a provider."""

    def set_provider(oidc_provider: OidcProvider) -> None:
        monkeypatch.setitem(app.extensions, "settings", replace(settings, oidc=oidc_provider))
        monkeypatch.delitem(app.extensions, "oidc", raising=False)

    monkeypatch.setitem(app.extensions, "oidc", None)
    return set_provider


def come_back(client: FlaskClient, hostile: HostileProvider, **changes: str) -> TestResponse:
    """Begin a sign-in, and come back from a hostile provider."""
    query = {name: values[0] for name, values in parse_qs(urlsplit(client.get(BEGIN).location).query).items()}
    hostile.nonce = query["nonce"]
    return client.get(f"{BEGIN}/callback", query_string={"code": "a-code", "state": query["state"], **changes})
