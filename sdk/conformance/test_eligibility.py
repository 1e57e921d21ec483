"""What is not eligible leaves byte for byte, and no telemetry; what is eligible gets the envelope."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import CONTRACT, ENVELOPE, PATHS, vectors
from conformance.routes import HTML, route
from conformance.wire import Response

MAX_BODY_BYTES = 3000
"""Small, so that a page that is too long is cheap."""

BODIES = {"json": '{"a": 1.0}', "html": "<p>a</p>", None: '{"a": 1.0}'}
EMPTY_STATUSES = (204, 205, 304)

CASES = [case for case in vectors("eligibility") if case["input"]["status"] >= 200]


def case_route(number: int, case: dict[str, Any]) -> dict[str, Any]:
    body = "" if case["input"]["status"] in EMPTY_STATUSES else BODIES[case["expected"]]
    headers = [["X-Own", "kept"], *case["input"]["headers"]]
    return route(f"/case/{number}", body, None, status=case["input"]["status"], headers=headers)


EXACT = '{"a":"' + "x" * (MAX_BODY_BYTES - 8) + '"}'
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
CHUNKS = ['{"a":', "1}"]
EXCLUDED = "/excluded"
"""What is below it answers as the product does without the SDK."""

UNTOUCHED = {
    "chunks": route("/chunks", chunks=CHUNKS),
    "one chunk": route("/one-chunk", chunks=['{"a":1}']),
    "chunks of HTML": route("/html-chunks", content_type=HTML, chunks=["<p>", "a"]),
    "lines of events": route("/events", content_type="text/event-stream", chunks=["data: {}\n\n", "data: {}\n\n"]),
    "a body above the limit": route("/long", EXACT.replace('{"a', '{"aa')),
    "a page above the limit": route("/long-page", "x" * (MAX_BODY_BYTES + 1), HTML),
    "binary": route("/binary", bytes(range(256)), "application/octet-stream"),
    "an error": route("/error", status=500),
    "a redirect": route("/redirect", status=302, headers=[["Location", "/a"]]),
    "no content type": route("/untyped", content_type=None),
    "an image that says JSON inside": route("/image", '{"a":1}', "image/svg+xml"),
    "compressed": route("/gzip", b"\x1f\x8b\x08\x00", headers=[["Content-Encoding", "gzip"]]),
    "a range": route("/range", headers=[["Content-Range", "bytes 0-6/7"]]),
    "no JSON": route("/broken", "{'a':1}"),
    "an envelope of its own": route("/own", f'{{"{ENVELOPE}": 1}}'),
}

ROUTES = [
    *(case_route(number, case) for number, case in enumerate(CASES)),
    *UNTOUCHED.values(),
    *(route("/method", method=method) for method in (*METHODS, "HEAD")),
    route("/exact", EXACT),
    route("/true-length", chunks=CHUNKS, declaredLength=7),
    route("/short", '{"a":1}', declaredLength=20),
    *(route(f"{prefix}/raises", chunks=CHUNKS, raises=True) for prefix in ("", EXCLUDED)),
    *(route(f"{prefix}/raises-whole", raises=True) for prefix in ("", EXCLUDED)),
]

SDK_HEADERS = {"agent-feedback", "link", "vary", "cache-control", "service-context-interaction"}


@pytest.fixture
def product(launch: Launch) -> Product:
    excluded = [f"{EXCLUDED}/**"]
    return launch(ROUTES, cacheMode="private", maxBodyBytes=MAX_BODY_BYTES, flushInterval=60_000, exclude=excluded)


def require_untouched(response: Response, entry: dict[str, Any]) -> None:
    """Fail unless a response is what its route says."""
    assert response.status == entry["status"]
    names = {name.lower() for name, _value in response.headers}
    assert not names & (SDK_HEADERS - {name.lower() for name, _value in entry["headers"]})
    for name, value in entry["headers"]:
        assert value in ", ".join(response.all(name))
    assert CONTRACT["headers"]["envelope"] not in str(response.headers)


def require_no_events(product: Product) -> None:
    product.flush()
    assert product.recorder.of(PATHS["telemetry"]) == []


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case["name"] for case in CASES])
def test_by_status_and_headers(product: Product, number: int) -> None:
    case, entry = CASES[number], ROUTES[number]
    response = product.get(f"/case/{number}")
    assert response.value("X-Own") == "kept"
    if case["expected"] is None:
        require_untouched(response, entry)
        assert response.body == entry["body"].encode()
        require_no_events(product)
        return
    envelopes.check(envelopes.get(response), "never_ask", product.recorder.url)
    assert response.status == entry["status"]


@pytest.mark.parametrize("name", UNTOUCHED)
def test_untouched(product: Product, name: str) -> None:
    entry = UNTOUCHED[name]
    plain = product.get(entry["path"])
    require_untouched(plain, entry)
    assert plain.body == route_body(entry)
    assert plain.is_complete
    require_no_events(product)


def route_body(entry: dict[str, Any]) -> bytes:
    if "chunks" in entry:
        return "".join(entry["chunks"]).encode()
    return entry["body"].encode() if "body" in entry else base64.b64decode(entry["bodyBase64"])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_but_head(product: Product, method: str) -> None:
    response = product.send("/method", method, body=None if method == "GET" else b"{}")
    envelopes.check(envelopes.get(response), "never_ask", product.recorder.url)


def test_an_answer_to_head_is_untouched(product: Product) -> None:
    response = product.send("/method", "HEAD")
    assert (response.status, response.body) == (200, b"")
    assert not {name.lower() for name, _value in response.headers} & SDK_HEADERS
    require_no_events(product)


def test_a_body_of_exactly_the_limit_is_eligible(product: Product) -> None:
    assert envelopes.find(product.get("/exact"))


def test_chunks_with_a_true_length_lose_nothing(product: Product) -> None:
    """It is finite, so it may carry the envelope."""
    response = product.get("/true-length")
    content = json.loads(response.body)
    content.pop(ENVELOPE, None)
    assert (content, response.is_complete) == ({"a": 1}, True)


def test_a_length_that_is_not_true_gets_nothing(product: Product) -> None:
    try:
        response = product.get("/short")
    except OSError:
        return  # the server has refused to send it
    assert not response.is_complete or response.status == 500
    assert ENVELOPE.encode() not in response.body
    require_no_events(product)


@pytest.mark.parametrize("path", ["/raises", "/raises-whole"])
def test_a_response_that_fails_is_the_products_own(product: Product, path: str) -> None:
    plain, response = failure_of(product, EXCLUDED + path), failure_of(product, path)
    # An SDK that has held back a body of a known length may fail before the first byte, and with the server's own 500.
    is_held_back = path == "/raises-whole" and (response is None or response[0] == 500)
    assert response == plain or is_held_back
    require_no_events(product)
    assert product.get("/exact").status == 200


def failure_of(product: Product, path: str) -> tuple[Any, ...] | None:
    """Return what comes of a response that fails; None if the server hangs up before the first byte."""
    try:
        response = product.get(path)
    except OSError:
        return None
    headers = sorted((name.lower(), value) for name, value in response.headers if name.lower() != "date")
    return response.status, headers, response.body, response.is_complete


def test_an_unknown_path_is_the_products_own_404(product: Product) -> None:
    response = product.get("/nothing")
    assert response.status == 404
    assert not {name.lower() for name, _value in response.headers} & SDK_HEADERS


def test_many_at_once_get_their_own(product: Product) -> None:
    """Responses of one moment are not mixed up."""
    with ThreadPoolExecutor(8) as threads:
        bodies = [response.json() for response in threads.map(lambda _number: product.get("/exact"), range(40))]
    tokens = {envelopes.token_of(body[ENVELOPE]) for body in bodies}
    assert len(tokens) == len(bodies)
