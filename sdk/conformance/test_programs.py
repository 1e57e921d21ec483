"""The programs themselves: what they make of input that says little, or nothing they know."""

import pytest

from conformance.conftest import Launch
from conformance.processes import Agent
from conformance.routes import route

OPTIONAL_MEMBERS = ("bodyBase64", "chunks", "declaredLength", "delayMs", "raises", "ask", "context")
ROUTES = [
    {**route("/null"), **dict.fromkeys(OPTIONAL_MEMBERS)},
    {**route("/empty"), "body": None},
]


def test_a_null_member_of_a_route_is_as_if_it_were_missing(launch: Launch) -> None:
    product = launch(ROUTES)
    assert product.get("/null").json()["a"] == 1
    empty = product.get("/empty")
    assert (empty.status, empty.body) == (200, b"")


@pytest.mark.parametrize("body", [{"count": 20}, {"count": 20, "perSecond": 0}, {"count": 20, "perSecond": None}])
def test_events_without_a_rate_are_put_as_fast_as_possible(launch: Launch, body: dict[str, int | None]) -> None:
    product = launch(ROUTES)
    before = product.counters()["sent"]
    product.control("put", body)
    product.flush()
    assert product.counters()["sent"] == before + 20


@pytest.mark.parametrize("text", [b"fetch", b"{", b"[]", b"null", b'"fetch"', b'{"do": "shout"}', b"{}", b"\xff"])
def test_a_line_that_is_no_command_is_invalid(agent: Agent, text: bytes) -> None:
    result = agent.do_line(b"\n" + text)
    assert (result["ok"], result["error"]) == (False, "invalid")
