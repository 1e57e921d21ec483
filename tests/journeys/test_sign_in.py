"""Signing in to the service as it runs: several processes, and a broker that may be unavailable."""

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
import requests

from app.accounts.rules import ACCOUNT_ADDRESS_LIMIT
from tests.journeys.stack import Stack

REQUEST_COUNT = 24
"""Enough requests, each over its own connection, to reach every web process."""


@dataclass(frozen=True)
class SessionClient:
    """A user at the stack, with an own client address."""

    url: str
    email: str
    password: str
    address: str

    def sign_in(self, password: str | None = None) -> requests.Response:
        return requests.post(
            self.url,
            json={"email": self.email, "password": password or self.password},
            headers={"X-Forwarded-For": self.address},
            timeout=30,
        )

    def statuses(self, login_response: requests.Response) -> set[int]:
        return {
            requests.get(self.url, cookies=login_response.cookies, timeout=10).status_code for _ in range(REQUEST_COUNT)
        }


@pytest.fixture
def session_client(stack: Stack, request: pytest.FixtureRequest) -> SessionClient:
    email = f"{request.node.name.replace('_', '-')[:60]}@example.com"
    user = stack.flask("user", "create", "--workspace", str(stack.company.workspace_id), "--email", email)
    # One of the addresses that are reserved for documentation, another for each test.
    address = f"203.0.113.{sum(map(ord, email)) % 250 + 1}"
    return SessionClient(stack.url + "/api/session", email, user["password"], address)


def test_a_new_password_signs_out_of_every_process(stack: Stack, session_client: SessionClient) -> None:
    login_response = session_client.sign_in()
    assert session_client.statuses(login_response) == {200}
    stack.flask("user", "password", session_client.email)
    assert session_client.statuses(login_response) == {401}


def test_signing_out_holds_in_every_process(session_client: SessionClient) -> None:
    login_response = session_client.sign_in()
    assert requests.delete(session_client.url, cookies=login_response.cookies, timeout=10).status_code == 204
    assert session_client.statuses(login_response) == {401}


def test_simultaneous_guesses_are_counted_over_all_processes(session_client: SessionClient) -> None:
    with ThreadPoolExecutor(REQUEST_COUNT) as pool:
        responses = list(pool.map(session_client.sign_in, ["a guess"] * REQUEST_COUNT))
    statuses = [response.status_code for response in responses]
    assert set(statuses) == {401, 429}
    # The wait after the last free guess is two seconds, in which a slow machine lets another one in.
    assert ACCOUNT_ADDRESS_LIMIT.free_attempts + 1 <= statuses.count(401) <= ACCOUNT_ADDRESS_LIMIT.free_attempts + 3
    assert all(int(response.headers["Retry-After"]) >= 1 for response in responses if response.status_code == 429)


def test_an_unavailable_broker_prevents_no_sign_in(stack: Stack, session_client: SessionClient) -> None:
    stack.valkey.stop(signal.SIGKILL)
    try:
        login_response = session_client.sign_in()
        assert (login_response.status_code, session_client.statuses(login_response)) == (200, {200})
    finally:
        stack.valkey.start()
