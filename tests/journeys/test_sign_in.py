"""Signing in to the service as it runs: several processes, and a broker that may be unavailable."""

import signal
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
import requests

from app.accounts.rules import PAIR_LIMIT
from tests.journeys.stack import Stack

TIMES = 24
"""Each over a connection of its own, so that every web process has its share."""


@dataclass(frozen=True)
class Person:
    """Somebody at the stack, at an address of their own."""

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

    def statuses(self, session: requests.Response) -> set[int]:
        return {requests.get(self.url, cookies=session.cookies, timeout=10).status_code for _ in range(TIMES)}


@pytest.fixture
def person(stack: Stack, request: pytest.FixtureRequest) -> Person:
    email = f"{request.node.name.replace('_', '-')[:60]}@example.com"
    user = stack.flask("user", "create", "--workspace", str(stack.company.workspace_id), "--email", email)
    # One of the addresses that are reserved for documentation, another for each test.
    address = f"203.0.113.{sum(map(ord, email)) % 250 + 1}"
    return Person(stack.url + "/api/session", email, user["password"], address)


def test_a_new_password_signs_out_of_every_process(stack: Stack, person: Person) -> None:
    session = person.sign_in()
    assert person.statuses(session) == {200}
    stack.flask("user", "password", person.email)
    assert person.statuses(session) == {401}


def test_signing_out_holds_in_every_process(person: Person) -> None:
    session = person.sign_in()
    assert requests.delete(person.url, cookies=session.cookies, timeout=10).status_code == 204
    assert person.statuses(session) == {401}


def test_simultaneous_guesses_are_counted_over_all_processes(person: Person) -> None:
    with ThreadPoolExecutor(TIMES) as pool:
        responses = list(pool.map(person.sign_in, ["a guess"] * TIMES))
    statuses = [response.status_code for response in responses]
    assert set(statuses) == {401, 429}
    # The wait after the last free guess is two seconds, in which a slow machine lets another one in.
    assert PAIR_LIMIT.free_attempts + 1 <= statuses.count(401) <= PAIR_LIMIT.free_attempts + 3
    assert all(int(response.headers["Retry-After"]) >= 1 for response in responses if response.status_code == 429)


def test_a_broker_that_is_away_keeps_nobody_out(stack: Stack, person: Person) -> None:
    stack.valkey.stop(signal.SIGKILL)
    try:
        session = person.sign_in()
        assert (session.status_code, person.statuses(session)) == (200, {200})
    finally:
        stack.valkey.start()
