"""An OpenID provider that accepts connections and is silent takes few threads, and each of them for a time-out."""

import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts import oidc
from config.settings import OidcProvider, Secret
from tests.accounts.providers import BEGIN, Configure, HostileProvider, come_back
from tests.factories import Company

TIMEOUT_S = 1.0
AT_ONCE_S = 0.5

Status = Callable[[], int]


class SilentServer:
    """A server that accepts connections and never answers."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._connections: list[socket.socket] = []
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"

    def accept(self, wait_s: float = 5) -> bool:
        """Wait for a connection, and tell whether there was one."""
        self._listener.settimeout(wait_s)
        try:
            self._connections.append(self._listener.accept()[0])
        except (TimeoutError, BlockingIOError):
            return False
        return True

    def close(self) -> None:
        """End all connections."""
        for connection in self._connections:
            connection.close()


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[SilentServer]:
    monkeypatch.setattr(oidc, "TIMEOUTS_S", (TIMEOUT_S, TIMEOUT_S))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = SilentServer(listener)
        yield server
        server.close()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as executor:
        yield executor


def is_at_once(send: Status) -> bool:
    """Tell whether a request is answered with 503 and without a wait."""
    began = time.monotonic()
    return send() == 503 and time.monotonic() - began < AT_ONCE_S


def test_discovery_that_hangs_holds_up_no_other_thread(
    app: Flask, configure: Configure, silent: SilentServer, pool: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(OidcProvider(silent.url, "the-client", Secret("the-secret")))
    # Shorter than the time-out: it counts from the failure on, or the provider would be asked again at once.
    monkeypatch.setattr(oidc, "RETRY_AFTER_FAILURE_S", TIMEOUT_S / 2)

    def begin() -> int:
        return app.test_client().get(BEGIN).status_code

    first: Future[int] = pool.submit(begin)
    assert silent.accept()
    assert is_at_once(begin)
    assert not first.done()
    assert first.result() == 503
    assert is_at_once(begin)
    assert not silent.accept(0)
    time.sleep(TIMEOUT_S / 2)
    assert begin() == 503
    assert silent.accept(0)


def test_old_metadata_are_of_use_while_new_ones_are_asked_for(
    app: Flask,
    client: FlaskClient,
    hostile: HostileProvider,
    configure: Configure,
    pool: ThreadPoolExecutor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(oidc, "METADATA_TTL_S", 0)
    configure(hostile.settings)
    assert client.get(BEGIN).status_code == 303
    hostile.delay_s = TIMEOUT_S
    first = pool.submit(lambda: app.test_client().get(BEGIN).status_code)
    began = time.monotonic()
    while len(hostile.requests) < 2 and time.monotonic() - began < 5:
        time.sleep(0.01)
    began = time.monotonic()
    assert client.get(BEGIN).status_code == 303
    assert time.monotonic() - began < AT_ONCE_S
    assert first.result() == 303


@pytest.mark.parametrize("endpoint", ["token_endpoint", "jwks_uri", "userinfo_endpoint"])
def test_an_exchange_that_hangs_is_not_repeated_at_once(
    app: Flask,
    client: FlaskClient,
    company: Company,
    hostile: HostileProvider,
    configure: Configure,
    silent: SilentServer,
    endpoint: str,
) -> None:
    configure(hostile.settings)
    hostile.claims = {"email": None, "email_verified": None}
    hostile.metadata = {endpoint: f"{silent.url}/endpoint"}
    assert come_back(client, hostile).status_code == 503
    assert silent.accept(0)
    assert is_at_once(lambda: come_back(app.test_client(), hostile).status_code)
    assert not silent.accept(0)


def test_few_threads_exchange_codes_at_the_same_time(
    app: Flask,
    company: Company,
    hostile: HostileProvider,
    configure: Configure,
    silent: SilentServer,
    pool: ThreadPoolExecutor,
) -> None:
    configure(hostile.settings)
    hostile.metadata = {"token_endpoint": f"{silent.url}/token"}

    def finish() -> int:
        return come_back(app.test_client(), hostile).status_code

    assert app.test_client().get(BEGIN).status_code == 303
    exchanges = [pool.submit(finish) for _ in range(oidc.MAX_EXCHANGES)]
    assert [silent.accept() for _ in exchanges] == [True] * oidc.MAX_EXCHANGES
    assert is_at_once(finish)
    assert not any(exchange.done() for exchange in exchanges)
    assert [exchange.result() for exchange in exchanges] == [503] * oidc.MAX_EXCHANGES


def test_a_wrong_answer_does_not_stop_the_sign_ins_of_others(
    app: Flask, client: FlaskClient, company: Company, hostile: HostileProvider, configure: Configure
) -> None:
    configure(hostile.settings)
    hostile.claims, hostile.sign = {"email": company.email}, lambda _: ""
    assert come_back(app.test_client(), hostile).status_code in (401, 503)
    hostile.sign = None
    assert come_back(client, hostile).status_code == 303
