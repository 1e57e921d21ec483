"""A WSGI application that starts its response with its first chunk is treated as every other one."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.sdk.site import BODY, JSON, App, Client, fetch, fetch_both


@pytest.fixture
def feedback() -> Client:
    return Client()


def make_generator(*chunks: bytes, headers: list[tuple[str, str]], seen: list[bytes] | None = None) -> App:
    """Return a product that starts its response when its first chunk is asked for."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", headers)
        for chunk in chunks:
            if seen is not None:
                seen.append(chunk)
            yield chunk

    return app


@pytest.mark.parametrize("chunks", [[BODY], [b"", BODY[:3], BODY[3:]]])
def test_a_generator_with_a_length_gets_the_envelope(feedback: Client, chunks: list[bytes]) -> None:
    app = make_generator(*chunks, headers=[JSON, ("Content-Length", str(len(BODY)))])
    # The standard library's validator wants the start before the first chunk, which WSGI does not.
    response = fetch(feedback.wsgi(app), is_strict=False)
    assert json.loads(response.body)["_agentFeedback"]["state"] == "feedback_ready"
    assert (response.starts, len(feedback.events)) == (1, 1)


@pytest.mark.parametrize(
    ("chunks", "headers"),
    [
        ([BODY], [JSON]),
        ([b"", BODY], [JSON]),
        ([], [JSON]),
        ([BODY], [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))]),
        ([BODY], [JSON, ("Content-Length", "2000000")]),
    ],
)
def test_any_other_generator_passes_unchanged(
    feedback: Client, chunks: list[bytes], headers: list[tuple[str, str]]
) -> None:
    original_response, response = fetch_both(make_generator(*chunks, headers=headers), feedback, is_strict=False)
    assert response == original_response


def test_a_generator_without_a_length_is_read_no_further_than_the_server_reads_it(feedback: Client) -> None:
    seen: list[bytes] = []
    app = feedback.wsgi(make_generator(b"[", b"1", b"]", headers=[JSON], seen=seen))
    starts: list[Any] = []
    chunks = app({"PATH_INFO": "/"}, lambda *start: starts.append(start))
    iterator = iter(chunks)
    assert [(next(iterator), list(seen), len(starts)) for _ in range(3)] == [
        (b"[", [b"["], 1),
        (b"1", [b"[", b"1"], 1),
        (b"]", [b"[", b"1", b"]"], 1),
    ]


@pytest.mark.parametrize("is_read", [True, False])
def test_a_generator_is_closed_with_its_response(feedback: Client, is_read: bool) -> None:
    steps: list[str] = []

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", [("Content-Type", "text/plain")])
        try:
            yield b"a"
            yield b"b"
        finally:
            steps.append("closed")

    chunks: Any = feedback.wsgi(app)({"PATH_INFO": "/"}, lambda *start: None)
    if is_read:
        next(iter(chunks))
    assert steps == []
    chunks.close()
    assert steps == ["closed"]


def test_a_generator_that_fails_before_its_start_fails_where_the_server_reads_it(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        raise LookupError("the product's own")
        yield b""

    chunks = feedback.wsgi(app)({"PATH_INFO": "/"}, lambda *start: None)
    with pytest.raises(LookupError, match="the product's own"):
        list(chunks)
