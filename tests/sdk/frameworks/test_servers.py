"""Products of real frameworks under real servers, with a recording service behind the SDK."""

import base64
import json
import re
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import websocket

from tests.sdk.endpoint import Endpoint, serving, wait_until
from tests.sdk.frameworks.product import CHUNKS, ORDERS, PAGE
from tests.sdk.frameworks.servers import PRODUCTS, Server
from tests.sdk.shop import HANDLE, context_action, json_reply

TIMEOUT_S = 15
ASK = {"Agent-Feedback-Request": "1", "User-Agent": "ClaudeBot/1.0 (+https://agent.example.com)"}
ANSWERS = "/_service/v1/enrichment/answers"
RETRIEVAL = {
    "retrievalId": "r1",
    "items": [
        {
            "signalId": "s1",
            "key": "shopping.priority",
            "type": "preference",
            "value": "price",
            "summary": "Price.",
            "provenance": "agent_reports_user_statement",
            "confidence": None,
            "allowedUses": ["product_personalization"],
            "remembered": False,
            "expiresAt": "2030-01-01T00:00:00Z",
        }
    ],
}
NAMES = [product.name for product in PRODUCTS]
ASYNC_NAMES = ["fastapi", "starlette"]


@pytest.fixture(scope="module")
def service() -> Iterator[Endpoint]:
    """A service that answers every call as each caller would have it."""
    with serving(Endpoint()) as endpoint:
        endpoint.default_reply = json_reply({**context_action(endpoint.url), **RETRIEVAL})
        yield endpoint


@pytest.fixture(scope="module")
def servers(service: Endpoint, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Server]]:
    """All products, which start at the same time."""
    folder = tmp_path_factory.mktemp("products")
    servers = {product.name: Server(product, service.url, folder) for product in PRODUCTS}
    yield servers
    for server in servers.values():
        server.terminate()
    statuses = {name: server.wait() for name, server in servers.items()}
    # uvicorn ends by the signal that it got.
    assert set(statuses.values()) <= {0, -15}, statuses
    for name in ASYNC_NAMES:
        assert (folder / f"{name}-stopped").exists()


@pytest.fixture(params=NAMES)
def server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


@pytest.fixture(params=ASYNC_NAMES)
def async_server(request: pytest.FixtureRequest, servers: dict[str, Server]) -> Server:
    return servers[request.param]


def get(server: Server, path: str, **arguments: Any) -> requests.Response:
    return requests.get(server.url + path, timeout=TIMEOUT_S, **{"headers": ASK, **arguments})


def claims(envelope: dict[str, Any]) -> dict[str, Any]:
    token = envelope["submitOutcome"]["authorization"].split(".")[1]
    content: dict[str, Any] = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    return content


def events(service: Endpoint) -> dict[str, dict[str, Any]]:
    batches = [request for request in list(service.requests) if request.path == "/api/v2/telemetry/batches"]
    return {event["interactionId"]: event for request in batches for event in request.events}


def arrived(service: Endpoint, envelope: dict[str, Any]) -> dict[str, Any]:
    """Return the event of an envelope, which comes soon."""
    interaction_id = claims(envelope)["i"]
    wait_until(lambda: interaction_id in events(service), TIMEOUT_S)
    return events(service)[interaction_id]


def test_an_object_gets_the_envelope_and_keeps_every_byte(server: Server, service: Endpoint) -> None:
    response = get(server, "/orders")
    text = response.text
    assert text.startswith(ORDERS[:-1] + ',"_agentFeedback":{')
    assert response.headers["Content-Length"] == str(len(response.content))
    assert response.headers["Cache-Control"] == "private, no-store"
    event = arrived(service, response.json()["_agentFeedback"])
    assert (event["operation"], event["surface"]) == (server.product.mount + "/orders", "http_json")
    assert (event["statusCode"], event["runtimeHint"]) == (200, "ClaudeBot/1.0")


def test_a_page_gets_the_element(server: Server, service: Endpoint) -> None:
    response = get(server, "/page")
    (text,) = re.findall(r'<script id="agent-feedback" type="application/json">(.*?)</script>', response.text)
    assert response.text.replace(f'<script id="agent-feedback" type="application/json">{text}</script>', "") == PAGE
    assert arrived(service, json.loads(text))["surface"] == "http_html"


def test_a_list_gets_the_header(server: Server, service: Endpoint) -> None:
    response = get(server, "/list")
    assert response.json() == [1, 2]
    value = response.headers["Agent-Feedback"]
    envelope = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    assert arrived(service, envelope)["surface"] == "http_headers"


@pytest.mark.parametrize("kind", ["stream", "events"])
def test_a_stream_arrives_as_it_is_made(server: Server, kind: str) -> None:
    name = uuid.uuid4().hex
    with get(server, f"/{kind}/{name}", stream=True) as response:
        chunks = response.iter_content(chunk_size=None)
        assert next(chunks) == CHUNKS[0]
        (server.folder / name).touch()
        assert b"".join(chunks) == CHUNKS[1]
    assert "Link" not in response.headers


def test_an_error_is_the_products_own(server: Server) -> None:
    response = get(server, "/error")
    assert response.status_code == 500
    assert b"agent" not in response.content
    assert "Link" not in response.headers


def test_a_stream_that_fails_breaks_off_after_what_it_has_sent(server: Server) -> None:
    received, is_broken = b"", False
    with get(server, "/late-error", stream=True) as response:
        try:
            for chunk in response.iter_content(chunk_size=None):
                received += chunk
        except requests.exceptions.ChunkedEncodingError:
            is_broken = True
    assert (response.status_code, received) == (200, CHUNKS[0])
    # A middleware of FastAPI's kind ends the response before the failure gets through.
    assert is_broken is (server.product.name != "fastapi")


def test_an_agent_is_asked_answers_and_retries(server: Server, service: Endpoint) -> None:
    response = get(server, "/context")
    action = response.json()["_service"]["customerContext"]
    assert response.json()["interaction"] is None
    interaction_id = response.headers["Service-Context-Interaction"]
    mount = server.product.mount
    assert action["submit"]["url"] == mount + ANSWERS
    # A proxy in front of the server takes the mount away.
    answer_url = server.url + action["submit"]["url"].removeprefix(mount)
    headers = {"Authorization": f"Bearer {HANDLE}"}
    answer = {"status": "answered", "items": [{"key": "shopping.priority", "value": "price"}]}
    accepted = requests.post(answer_url, json=answer, headers=headers, timeout=TIMEOUT_S)
    assert accepted.status_code == 200
    assert accepted.json()["submit"]["url"] == mount + ANSWERS
    relayed = [request for request in service.requests if request.path == "/api/v2/enrichment/answers"][-1]
    assert (relayed.content, relayed.headers["Authorization"]) == (answer, f"Bearer {HANDLE}")
    retry = get(server, "/context", headers={**ASK, "Service-Context-Interaction": interaction_id})
    assert "_service" not in retry.json()
    assert (retry.json()["interaction"], retry.json()["priority"]) == (interaction_id, "price")
    assert retry.headers["Cache-Control"] == "private, no-store"
    (asked,) = [
        request.content
        for request in service.requests
        if request.path == "/api/v2/enrichment/requests" and request.content["interactionId"] == interaction_id
    ]
    assert asked["operation"] == f"{mount}/context"
    assert asked["requestObservation"]["clientIp"] == "127.0.0.1"


def test_the_relay_refuses_what_has_no_handle(server: Server) -> None:
    response = requests.post(server.url + ANSWERS, data=b"a" * 100_000, timeout=TIMEOUT_S)
    assert response.status_code in (401, 413)
    assert response.headers["Cache-Control"] == "private, no-store"


def test_by_request_only_who_asks_gets_an_envelope(servers: dict[str, Server]) -> None:
    response = get(servers["starlette"], "/orders?page=2&q=%C3%A9", headers={})
    assert response.text == ORDERS
    assert response.headers["Vary"] == "Agent-Feedback-Request"
    target = "/shop/orders?page=2&q=%C3%A9"
    assert response.headers["Link"] == f'<{target}>; rel="agent-feedback"; request-header="Agent-Feedback-Request: 1"'
    head = requests.head(servers["starlette"].url + "/orders", headers=ASK, timeout=TIMEOUT_S)
    assert head.headers["Content-Length"] == str(len(ORDERS))
    assert "agent-feedback" in head.headers["Link"]


def test_the_lifespan_is_the_products_own(async_server: Server) -> None:
    # Its end is looked at when the servers stop.
    assert get(async_server, "/stock").json()["stock"] == 7
    assert (async_server.folder / f"{async_server.product.name}-started").exists()


def test_a_websocket_is_the_products_own(async_server: Server) -> None:
    url = async_server.url.replace("http://", "ws://")
    connection = websocket.create_connection(f"{url}/echo", timeout=TIMEOUT_S)
    try:
        connection.send("hello")
        assert connection.recv() == "hello 7"
    finally:
        connection.close()


def test_background_tasks_run_after_the_response(async_server: Server) -> None:
    name = uuid.uuid4().hex
    response = get(async_server, f"/background/{name}")
    assert (response.json()["name"], "_agentFeedback" in response.json()) == (name, True)
    assert not (async_server.folder / f"{name}-done").exists()
    (async_server.folder / f"{name}-go").touch()
    wait_until((async_server.folder / f"{name}-done").exists, TIMEOUT_S)


@pytest.mark.parametrize("path", ["/file", "/inner/orders", "/inner/file"])
def test_files_and_mounted_applications_are_extended_as_well(
    servers: dict[str, Server], service: Endpoint, path: str
) -> None:
    response = get(servers["starlette"], path)
    assert response.text.startswith(ORDERS[:-1] + ',"_agentFeedback":{')
    assert arrived(service, response.json()["_agentFeedback"])["operation"] == f"/shop{path}"


def test_a_client_that_leaves_ends_the_stream(servers: dict[str, Server]) -> None:
    name = uuid.uuid4().hex
    with get(servers["starlette"], f"/endless/{name}", stream=True) as response:
        next(response.iter_content(chunk_size=None))
    wait_until((servers["starlette"].folder / name).exists, TIMEOUT_S)


def test_forked_workers_send_their_own_events_once(servers: dict[str, Server], service: Endpoint) -> None:
    envelopes: list[dict[str, Any]] = []
    processes: Counter[str] = Counter()
    while len(processes) < 2 or len(envelopes) < 20:
        response = get(servers["flask"], "/orders")
        envelopes.append(response.json()["_agentFeedback"])
        processes[response.headers["X-Process"]] += 1
        assert len(envelopes) < 1_000, processes
    for envelope in envelopes:
        arrived(service, envelope)
    every_event = [
        event for request in list(service.requests) if b'"events"' in request.body for event in request.events
    ]
    ids = Counter(event["interactionId"] for event in every_event)
    assert set(ids.values()) == {1}
    # Queued in the process that forked.
    assert [event["operation"] for event in every_event].count("preload") == 1
