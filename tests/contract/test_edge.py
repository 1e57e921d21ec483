"""Responses of a real gunicorn to bodies and requests that are incomplete, too large or no HTTP."""

import json
import socket
import uuid
from http.client import HTTPResponse
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from app.core.http.body import AGENT_BODY_BYTES, BATCH_BODY_BYTES
from tests.factories import NOTE, event
from tests.journeys.stack import Stack

REVIEW = json.dumps({"outcome": "success", "note": NOTE}).encode()
FULL_REVIEW = REVIEW.ljust(AGENT_BODY_BYTES)


class Response(NamedTuple):
    """A response, and whether the server closed the connection after it."""

    status: int
    headers: dict[str, str]
    body: Any
    is_closed: bool


def send(stack: Stack, request: bytes, *, is_incomplete: bool = False) -> Response:
    """Send bytes over a new connection; with `is_incomplete` the client closes its side after them."""
    address = urlsplit(stack.url)
    with socket.create_connection((address.hostname, address.port), timeout=15) as connection:
        connection.sendall(request)
        if is_incomplete:
            connection.shutdown(socket.SHUT_WR)
        response = HTTPResponse(connection)
        response.begin()
        headers = {name.lower(): text for name, text in response.getheaders()}
        content = response.read()
        body = json.loads(content) if content else None
        return Response(response.status, headers, body, headers.get("connection") == "close")


def post(path: str, token: str, *header_lines: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *header_lines]
    return "\r\n".join([*head, "Content-Type: application/json", "", ""]).encode()


def chunked(*parts: bytes, end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + end


def send_chunks(stack: Stack, content: bytes, *, is_incomplete: bool = False) -> Response:
    head = post("/api/v2/outcomes", stack.company.capability(), "Transfer-Encoding: chunked")
    return send(stack, head + content, is_incomplete=is_incomplete)


def send_review(
    stack: Stack, content: bytes, *header_lines: str, token: str = "", is_incomplete: bool = False
) -> Response:
    header_lines = header_lines or (f"Content-Length: {len(content)}",)
    return send(
        stack,
        post("/api/v2/outcomes", token or stack.company.capability(), *header_lines) + content,
        is_incomplete=is_incomplete,
    )


def assert_incomplete(response: Response) -> None:
    assert (response.status, response.body["code"]) == (400, "incomplete_body")
    assert response.body["errors"][0]["code"] == "incomplete_body"
    assert response.is_closed


@pytest.mark.parametrize("parts", [(FULL_REVIEW,), (REVIEW, b" " * (AGENT_BODY_BYTES - len(REVIEW)))])
def test_a_chunked_body_of_exactly_the_limit_is_accepted(stack: Stack, parts: tuple[bytes, ...]) -> None:
    response = send_chunks(stack, chunked(*parts))
    assert (response.status, response.body["accepted"]) == (200, True)
    assert not response.is_closed


@pytest.mark.parametrize("remainder", [b" ", b"x", b"x" * 100_000, b" " * 3_000_000])
def test_a_chunked_body_beyond_the_limit_is_too_large_whatever_its_start_is(stack: Stack, remainder: bytes) -> None:
    response = send_chunks(stack, chunked(FULL_REVIEW, remainder))
    assert (response.status, response.body["code"]) == (413, "request_entity_too_large")
    assert response.is_closed


def test_a_chunked_batch_has_its_own_limit(stack: Stack) -> None:
    batch = json.dumps({"events": [event()]}).encode().ljust(BATCH_BODY_BYTES)
    head = post("/api/v2/telemetry/batches", stack.company.product_key, "Transfer-Encoding: chunked")
    assert send(stack, head + chunked(batch)).status == 202
    assert send(stack, head + chunked(batch, b" ")).status == 413


@pytest.mark.parametrize(
    "content",
    [
        b"zz\r\n" + REVIEW,
        b"-5\r\nabcde\r\n0\r\n\r\n",
        b"\r\n" + REVIEW + b"\r\n0\r\n\r\n",
        b"5\r\nabcdefgh\r\n0\r\n\r\n",
        b"5;a\rb\r\nabcde\r\n0\r\n\r\n",
        chunked(REVIEW, end=b"0\r\nbad trailer\r\n\r\n"),
        chunked(REVIEW, end=b"0x0\r\n\r\n"),
        b"f" * 9000,
    ],
)
def test_malformed_chunks_are_the_clients_error(stack: Stack, content: bytes) -> None:
    assert_incomplete(send_chunks(stack, content, is_incomplete=True))


@pytest.mark.parametrize("content", [b"", b"40", b"40\r\n", b"40\r\nabc", chunked(REVIEW, end=b""), b"5\r\nabcde"])
def test_cut_chunks_are_incomplete(stack: Stack, content: bytes) -> None:
    assert_incomplete(send_chunks(stack, content, is_incomplete=True))


@pytest.mark.parametrize("content", [b"", b"{", REVIEW])
def test_a_body_below_its_announced_length_is_incomplete(stack: Stack, content: bytes) -> None:
    assert_incomplete(send_review(stack, content, f"Content-Length: {len(REVIEW) + 1}", is_incomplete=True))


def test_an_announced_length_beyond_the_limit_is_answered_before_the_body_is_sent(stack: Stack) -> None:
    response = send_review(stack, b"", f"Content-Length: {AGENT_BODY_BYTES + 1}")
    assert response.status == 413
    assert response.is_closed


def test_a_body_of_exactly_the_limit_is_accepted(stack: Stack) -> None:
    assert send_review(stack, FULL_REVIEW).status == 200


@pytest.mark.parametrize("coding", ["gzip", "br", "deflate", "GZIP, identity"])
def test_a_compressed_body_is_unsupported(stack: Stack, coding: str) -> None:
    response = send_review(stack, REVIEW, f"Content-Length: {len(REVIEW)}", f"Content-Encoding: {coding}")
    assert (response.status, response.body["code"]) == (415, "unsupported_media_type")
    assert response.is_closed


def test_a_stored_review_is_the_answer_to_an_oversized_body_which_ends_the_connection(stack: Stack) -> None:
    token = stack.company.capability()
    review = send_review(stack, REVIEW, token=token)
    second_response = send_review(stack, b"", f"Content-Length: {AGENT_BODY_BYTES + 1}", token=token)
    assert (second_response.status, second_response.body) == (200, review.body)
    assert second_response.is_closed


@pytest.mark.parametrize(
    ("path", "token", "status"),
    [
        ("/api/v2/outcomes", "afr2_wrong", 401),
        ("/api/v2/nothing", "x", 404),
        ("/healthz", "x", 405),
    ],
)
def test_an_unread_body_ends_the_connection(stack: Stack, path: str, token: str, status: int) -> None:
    response = send(stack, post(path, token, f"Content-Length: {len(REVIEW)}") + REVIEW)
    assert response.status == status
    assert response.is_closed


def test_a_request_without_a_body_keeps_the_connection(stack: Stack) -> None:
    assert not send(stack, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").is_closed
    assert not send(stack, b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n").is_closed


@pytest.mark.parametrize(
    ("request_bytes", "status", "code"),
    [
        (b"nonsense\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/9.9\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nbad header: 1\r\n\r\n", 400, "bad_request"),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", 400, "bad_request"),
        (b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414, "request_uri_too_long"),
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: " + b"x" * 10_000 + b"\r\n\r\n",
            431,
            "request_header_fields_too_large",
        ),
        (
            b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X-Many: 1\r\n" * 200 + b"\r\n",
            431,
            "request_header_fields_too_large",
        ),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: exotic\r\n\r\n", 501, "not_implemented"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nExpect: nothing\r\n\r\n", 417, "expectation_failed"),
    ],
)
def test_what_is_not_http_is_answered_in_the_shape_of_every_error(
    stack: Stack, request_bytes: bytes, status: int, code: str
) -> None:
    response = send(stack, request_bytes)
    assert (response.status, response.body["code"]) == (status, code)
    assert response.headers["content-type"] == "application/json"
    assert response.body["error"].endswith(".")
    assert uuid.UUID(response.body["requestId"]).hex == response.headers["x-request-id"]
    assert ("errors" in response.body) == (status == 400)
    assert response.is_closed


def test_an_answer_to_what_is_not_http_repeats_nothing_of_it(stack: Stack) -> None:
    response = send(stack, b"GET /secret-word HTTP/1.1\r\nsecret word: secret-word\r\n\r\n")
    assert response.status == 400
    assert "secret" not in json.dumps(response.body)
