"""Which cache policies keep an envelope away, and how agents discover it in the mode `request`."""

from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import CONTRACT, PATHS, vectors
from conformance.routes import HTML, route
from conformance.wire import Response, send

REQUEST_HEADER = CONTRACT["headers"]["request"]
LINK = CONTRACT["headers"]["requestLink"]

# A route has no other host; what such a target gets has a case of its own below. No valid request line has a space.
CASES = [
    case
    for case in vectors("cache")
    if not case["input"].get("target", "").startswith("//") and " " not in case["input"].get("target", "")
]
MODES = ("safe", "private", "request")

OTHERS = [
    route("/array", "[1]"),
    route("/page", "<p>a", HTML),
    route("/varied", headers=[["Vary", "Accept-Language"]]),
    route("/varied-by-all", headers=[["Vary", "*"]]),
    route("/public", headers=[["Cache-Control", "public, max-age=60"], ["ETag", '"a"']]),
    route("/error", status=500),
    route("/text", "text", "text/plain"),
    route("/created", method="POST", status=201),
    route("/health"),
    route("/own", '{"_agentFeedback": 1}'),
    route("/caf\u00e9/a b"),
    route("//evil.example/a"),
]


def methods_of(number: int) -> list[dict[str, Any]]:
    headers = CASES[number]["input"]["headers"]
    return [route(f"/{number}", content_type=None, method=method, headers=headers) for method in _METHODS]


_METHODS = ("GET", "HEAD", "POST")
ROUTES = [entry for number in range(len(CASES)) for entry in methods_of(number)]


@pytest.fixture
def asked(launch: Launch) -> Product:
    return launch([*ROUTES, *OTHERS], cacheMode="request", flushInterval=60_000)


def links_of(response: Response) -> list[str]:
    return [link for link in response.all("Link") if "request-header" in link]


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_policies(launch: Launch, number: int) -> None:
    case, given = CASES[number], CASES[number]["input"]
    product = launch([*ROUTES, *OTHERS], cacheMode=given["cacheMode"], flushInterval=60_000)
    query = given.get("target", "").partition("?")[2]
    target = f"/{number}" + (f"?{query}" if query else "")
    headers = [(name, value) for name, value in given.get("requestHeaders", [])]
    response = send(product.url, target, given.get("method", "GET"), headers)
    assert bool(envelopes.find(response)) == case["expected"]["hasEnvelope"]
    added = [(name, value.replace(given.get("target", ""), target)) for name, value in case["expected"]["addedHeaders"]]
    assert ("Vary", REQUEST_HEADER) in added or REQUEST_HEADER not in str(response.all("Vary"))
    for name, value in added:
        assert value in response.all(name)
    assert len(links_of(response)) == sum(name == "Link" for name, _value in added)
    if not case["expected"]["hasEnvelope"]:
        policy = dict(given["headers"]).get("Cache-Control")
        assert response.value("Cache-Control") == policy
        product.flush()
        assert product.recorder.of(PATHS["telemetry"]) == []


@pytest.mark.parametrize("path", ["/array", "/page", "/varied", "/public"])
def test_an_agent_that_asks_gets_every_shape(asked: Product, path: str) -> None:
    response = asked.get(path, **{REQUEST_HEADER: "1"})
    envelopes.check(envelopes.get(response), "never_ask", asked.recorder.url)
    assert REQUEST_HEADER in ", ".join(response.all("Vary"))
    assert response.value("Cache-Control") == CONTRACT["eligibility"]["cacheControl"]
    assert links_of(response) == []


@pytest.mark.parametrize("path", ["/array", "/page", "/varied", "/public"])
def test_others_get_the_link_and_nothing_else(asked: Product, path: str) -> None:
    response = asked.get(path)
    entry = next(entry for entry in OTHERS if entry["path"] == path)
    assert response.body.decode() == entry["body"]
    assert links_of(response) == [LINK.replace("{target}", path)]
    assert response.value("Cache-Control") == dict(entry["headers"]).get("Cache-Control")
    assert response.value("ETag") == dict(entry["headers"]).get("ETag")
    assert CONTRACT["headers"]["discoveryLink"].partition("/.well")[2] not in str(response.all("Link"))


def test_vary_is_added_to(asked: Product) -> None:
    values = {value.strip() for value in ", ".join(asked.get("/varied").all("Vary")).split(",")}
    assert values == {"Accept-Language", REQUEST_HEADER}


@pytest.mark.parametrize("path", ["/error", "/text", "/health", "/nothing"])
def test_what_is_not_eligible_gets_no_header(asked: Product, path: str) -> None:
    for headers in ({}, {REQUEST_HEADER: "1"}):
        response = asked.get(path, **headers)
        assert (links_of(response), response.all("Vary")) == ([], [])
        assert envelopes.find(response) is None


def test_a_post_gets_no_link(asked: Product) -> None:
    response = asked.send("/created", "POST", body=b"{}")
    assert (links_of(response), response.all("Vary")) == ([], [REQUEST_HEADER])


@pytest.mark.parametrize(
    "target", ["/array?", "/array?a=%20&b=1,2", "/array?q=%C3%A9", "/caf%C3%A9/a%20b", "/caf%c3%a9/a%20b?x=/../y"]
)
def test_the_link_names_the_target_of_the_request_line(asked: Product, target: str) -> None:
    assert links_of(asked.get(target)) in (
        [LINK.replace("{target}", target)],
        [LINK.replace("{target}", target.rstrip("?"))],
    )


def test_the_link_reads_nothing_of_the_host(asked: Product) -> None:
    headers = [("Host", "evil.example"), ("X-Forwarded-Host", "evil.example"), ("Forwarded", "host=evil.example")]
    response = send(asked.url, "/array", headers=headers)
    assert links_of(response) == [LINK.replace("{target}", "/array")]


def test_a_link_never_leads_to_another_host(asked: Product) -> None:
    """A target with two slashes would name one."""
    for link in links_of(asked.get("//evil.example/a")):
        assert not link.startswith("<//")


def test_a_discovered_target_answers_with_the_envelope(asked: Product) -> None:
    target = links_of(asked.get("/array?page=2"))[0].partition("<")[2].partition(">")[0]
    assert envelopes.find(asked.get(target, **{REQUEST_HEADER: "1"}))
