"""Hundreds of clients that are slow on purpose, and honest ones meanwhile: directly, and behind nginx.

`python -m bench.slow_clients` measures how much later the honest ones are answered.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from tests.factories import NOTE, bearer
from tests.journeys.proxy import Proxy, running_proxy
from tests.journeys.slow_clients import Kind, SlowClients
from tests.journeys.stack import Stack, free_port, wait_until
from tests.journeys.web import Web, running_web

DEADLINE_S = 2
MARGIN_S = 4
"""The main loop looks at deadlines once a second, and the machine may be busy."""

HONEST_CLIENTS = 3
UNANSWERED = 0


def session_for(verify: str | bool) -> requests.Session:
    """Return a session that trusts a certificate, whatever the environment says."""
    session = requests.Session()
    session.trust_env, session.verify = False, verify
    return session


class Honest:
    """Clients that send reviews, over kept connections and over new ones in turns."""

    def __init__(self, stack: Stack, url: str, verify: str | bool = True) -> None:
        self._stack, self._url, self._verify = stack, url, verify
        self.answers: list[tuple[int, float]] = []
        """Status and seconds."""

    def send(self, session: requests.Session) -> None:
        """Send a review and remember how it was answered."""
        began = time.monotonic()
        token, body = self._stack.company.capability(str(uuid.uuid4())), {"outcome": "success", "note": NOTE}
        try:
            answer = session.post(f"{self._url}/api/v2/outcomes", json=body, headers=bearer(token), timeout=20)
            status = answer.status_code
        except requests.RequestException:
            status = UNANSWERED
        self.answers.append((status, time.monotonic() - began))

    @contextmanager
    def running(self) -> Iterator[None]:
        """Send again and again while the block runs."""
        is_over = threading.Event()

        def run() -> None:
            while not is_over.is_set():
                with session_for(self._verify) as session:
                    for _ in range(5):
                        self.send(session)
                time.sleep(0.01)

        threads = [threading.Thread(target=run) for _ in range(HONEST_CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            for thread in threads:
                thread.join()

    def assert_nobody_waited(self) -> None:
        assert Counter(status for status, _ in self.answers).keys() == {200}
        assert len(self.answers) > 10 * HONEST_CLIENTS
        assert max(seconds for _, seconds in self.answers) < DEADLINE_S


def is_cut(slow_clients: SlowClients, *kinds: Kind) -> Callable[[], bool]:
    """Tell whether everybody of these kinds has been cut off."""
    return lambda: Counter(kind for kind, _, _ in slow_clients.cut) == {kind: kind.count for kind in kinds}


@pytest.fixture(scope="module")
def web(stack: Stack) -> Iterator[Web]:
    with running_web(stack, AGENT_FEEDBACK_REQUEST_DEADLINE_S=str(DEADLINE_S)) as web:
        yield web


@pytest.fixture(scope="module")
def proxy(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with running_proxy(tmp_path_factory.mktemp("proxy") / "nginx", web.url) as proxy:
        yield proxy


def test_slow_clients_hold_nobody_up_and_are_cut_off(stack: Stack, web: Web) -> None:
    honest = Honest(stack, web.url)
    with SlowClients(web.url).running() as slow_clients, honest.running():
        wait_until(is_cut(slow_clients, Kind.IDLE, Kind.HEAD, Kind.BODY), DEADLINE_S + MARGIN_S)
        time.sleep(1)
    honest.assert_nobody_waited()
    assert slow_clients.statuses() == {
        (Kind.IDLE, UNANSWERED): Kind.IDLE.count,
        (Kind.HEAD, 408): Kind.HEAD.count,
        (Kind.BODY, 408): Kind.BODY.count,
    }
    assert min(age for _, _, age in slow_clients.cut) > DEADLINE_S - 1


def test_slow_clients_that_come_back_hold_nobody_up(stack: Stack, web: Web) -> None:
    honest = Honest(stack, web.url)
    with SlowClients(web.url, is_reconnecting=True).running() as slow_clients, honest.running():
        # Some have been cut off twice.
        wait_until(lambda: len(slow_clients.cut) > len(slow_clients.clients), 2 * DEADLINE_S + MARGIN_S)
    honest.assert_nobody_waited()


def test_behind_nginx_slow_clients_are_not_noticed(stack: Stack, proxy: Proxy) -> None:
    honest = Honest(stack, proxy.url, verify=str(proxy.certificate))
    with SlowClients(proxy.url, "127.0.0.3", proxy.tls).running() as slow_clients, honest.running():
        time.sleep(DEADLINE_S + 1.5)
    honest.assert_nobody_waited()
    # nginx has passed on none of them, or the service would have cut them off.
    assert slow_clients.cut == []


def test_behind_nginx_no_client_chooses_its_address(proxy: Proxy) -> None:
    session = session_for(str(proxy.certificate))
    guess = {"email": f"{uuid.uuid4()}@example.com", "password": "not the password"}
    answers = [
        session.post(f"{proxy.url}/api/session", json=guess, headers={"X-Forwarded-For": f"203.0.113.{n}"}, timeout=30)
        for n in range(ACCOUNT_ADDRESS_LIMIT.free_attempts + 2)
    ]
    assert answers[0].status_code == 401
    assert answers[-1].status_code == 429


def test_nginx_logs_nothing_of_what_was_asked(proxy: Proxy) -> None:
    session = session_for(str(proxy.certificate))
    headers = {"Referer": "https://example.com/planted-referer"}
    for path in ("/sign-in/oidc/callback?code=planted-code", "/planted-path"):
        session.get(proxy.url + path, headers=headers, timeout=10)
        session.get(proxy.plain_url + path, headers=headers, timeout=10, allow_redirects=False)
    session.post(f"{proxy.url}/planted-path", data=b"x" * 3_000_000, timeout=10)
    logs = [path for path in proxy.folder.iterdir() if path.name.endswith((".log", ".txt"))]
    assert logs
    assert [path.name for path in logs if "planted" in path.read_text()] == []


def test_nginx_answers_what_it_rejects_in_the_shape_of_the_service(tmp_path: Path) -> None:
    with running_proxy(tmp_path / "nginx", f"http://127.0.0.1:{free_port()}") as proxy:
        session = session_for(str(proxy.certificate))
        url = f"{proxy.url}/api/v2/outcomes"
        too_large = session.post(url, data=b" " * 3_000_000, timeout=30)
        unavailable = session.post(url, json={}, timeout=30)
        redirect = session.get(f"{proxy.plain_url}/healthz?a=1", allow_redirects=False, timeout=30)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "request_entity_too_large")
    assert (unavailable.status_code, unavailable.json()["code"]) == (503, "unavailable")
    assert unavailable.headers["Retry-After"] == "1"
    for answer in (too_large, unavailable):
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json().keys() == {"error", "code", "requestId"}
    assert (redirect.status_code, redirect.headers["Location"]) == (308, "https://localhost/healthz?a=1")
