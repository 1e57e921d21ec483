"""An agent follows the link of a product that gives envelopes on request, at most once."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import requests
from agent_feedback import InvalidOption, ServiceUnavailable
from agent_feedback.agent import Page, Received, discover, fetch
from agent_feedback.agent.discovery import find_target

from tests.sdk.endpoint import HANG_UP, Endpoint, Reply, closed_port, serving

ENVELOPE = {"v": 1, "state": "feedback_ready"}
LINK = '<{}>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"'


def reply(link: str | None = None, envelope: dict[str, Any] | None = None, status: int = 200) -> Reply:
    headers = (("Link", link),) if link else ()
    content = {"orders": []} if envelope is None else {"_agentFeedback": envelope}
    return Reply(status, json.dumps(content).encode(), (("Content-Type", "application/json"), *headers))


@pytest.fixture
def product(endpoint: Endpoint) -> Iterator[Endpoint]:
    """A product in the cache mode `request`."""
    endpoint.replies.append(reply(LINK.format("/orders?page=2")))
    endpoint.default_reply = reply(envelope=ENVELOPE)
    return endpoint


def find(response: Any) -> Received | None:
    return discover(response, allowed_origins=[])


def test_the_link_is_followed_with_the_method_and_the_credentials(product: Endpoint) -> None:
    headers = {
        "Authorization": "Bearer customer",
        "Cookie": "a=b",
        "If-None-Match": '"1"',
        "Accept": "application/json",
    }
    received = find(fetch(f"{product.url}/orders?page=2", headers))
    assert received
    assert received.state == "feedback_ready"
    _, request = product.requests
    assert (request.method, request.path, request.body) == ("GET", "/orders?page=2", b"")
    sent_headers = {name: request.headers.get(name) for name in headers}
    assert sent_headers == {**headers, "If-None-Match": None}
    assert request.headers["Agent-Feedback-Request"] == "1"


def test_a_response_of_requests_is_followed_alike(product: Endpoint) -> None:
    with requests.Session() as session:
        session.cookies["a"] = "b"
        response = session.get(f"{product.url}/orders", headers={"Authorization": "Bearer customer"}, timeout=10)
    assert find(response)
    request = product.requests[1]
    assert (request.headers["Authorization"], request.headers["Cookie"]) == ("Bearer customer", "a=b")
    assert request.headers["User-Agent"].startswith("python-requests/")


def test_a_response_with_an_envelope_is_not_asked_again(product: Endpoint) -> None:
    product.replies[:] = [reply(LINK.format("/orders"), ENVELOPE)]
    assert find(fetch(product.url))
    assert len(product.requests) == 1


def test_the_link_is_followed_once_only(product: Endpoint) -> None:
    product.default_reply = reply(LINK.format("/again"))
    assert find(fetch(product.url)) is None
    assert [request.path for request in product.requests] == ["/", "/orders?page=2"]


@pytest.mark.parametrize("status", [301, 302, 307, 404, 500])
def test_what_is_no_answer_holds_no_envelope_and_is_not_followed(product: Endpoint, status: int) -> None:
    product.default_reply = Reply(status, b"", (("Location", "/elsewhere"), ("Link", LINK.format("/more"))))
    assert find(fetch(product.url)) is None
    assert len(product.requests) == 2


def test_a_product_that_hangs_up_is_unavailable(product: Endpoint) -> None:
    product.default_reply = Reply(HANG_UP)
    page = fetch(product.url)
    with pytest.raises(ServiceUnavailable, match="could not be reached"):
        find(page)
    assert len(product.requests) == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_request_that_changes_something_is_not_repeated(product: Endpoint, method: str) -> None:
    response = requests.request(method, product.url, timeout=10)
    assert find(response) is None
    assert len(product.requests) == 1


def test_another_origin_gets_nothing(product: Endpoint) -> None:
    with serving(Endpoint()) as other:
        product.replies[:] = [reply(LINK.format(f"{other.url}/orders"))]
        assert find(fetch(product.url, {"Authorization": "Bearer customer"})) is None
        assert not other.requests


@pytest.mark.parametrize(
    "link",
    [
        "",
        "</orders>",
        '</orders>; rel="next"',
        '</orders>; rel="agent-feedback"',
        '<https://f.example/.well-known/agent-feedback-v1.json>; rel="agent-feedback"; type="application/json"',
        '</orders>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 2"',
        '</orders>; rel="agent-feedback"; request-header="Authorization: 1"',
        '<//other.example/orders>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"',
        '<http://shop.example/orders>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"',
        '<https://user@shop.example/>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"',
        '<https://[/>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"',
        '</a>; title="</orders>; rel=\\"agent-feedback\\"; request-header=\\"Agent-Feedback-Request: 1\\""',
    ],
)
def test_other_links_are_no_way_to_the_envelope(link: str) -> None:
    response = SimpleNamespace(headers={"Link": link})
    assert find_target(response, "https://shop.example/orders") is None


@pytest.mark.parametrize(
    "link",
    [
        LINK.format("/orders?page=2"),
        LINK.format("https://SHOP.example:443/orders?page=2"),
        '</style.css>; rel=preload; title="a, b; c", ' + LINK.format("/orders?page=2"),
        '</orders?page=2>; REL="next agent-feedback" ; Request-Header="agent-feedback-request:1"',
        "</orders?page=2>; rel=agent-feedback; request-header=Agent-Feedback-Request:1",
    ],
)
def test_the_link_is_found_however_it_is_written(link: str) -> None:
    target = find_target(SimpleNamespace(headers={"link": link}), "https://shop.example/orders")
    assert target
    assert target.lower().replace(":443", "") == "https://shop.example/orders?page=2"


def test_a_body_alone_has_no_link() -> None:
    assert find(b"{}") is None
    assert find({"_agentFeedback": ENVELOPE})


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop",
        "ftp://shop.example/",
        "http://shop.example/",
        "https://u:p@shop.example/",
        "https://[",
        "https://a:99999/",
    ],
)
def test_an_url_that_an_agent_must_not_use_is_refused(url: str) -> None:
    with pytest.raises(InvalidOption):
        fetch(url)


def test_a_page_is_fetched_as_it_is(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(302, b"moved", (("Location", "/b"), ("Link", "<a>"), ("Link", "<b>")))
    page = fetch(f"{endpoint.url}/caf\u00e9 x?q=\u00fc#part", {"user-agent": "agent/1"})
    assert isinstance(page, Page)
    assert (page.status_code, page.content, page.headers["link"]) == (302, b"moved", "<a>, <b>")
    (request,) = endpoint.requests
    assert (request.path, request.headers["User-Agent"]) == ("/caf%C3%A9%20x?q=%C3%BC", "agent/1")


def test_a_product_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(ServiceUnavailable) as error:
        fetch(f"http://127.0.0.1:{closed_port()}/")
    assert isinstance(error.value.__cause__, ConnectionRefusedError)
