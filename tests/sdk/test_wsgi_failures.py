"""Whatever fails in the product stays the product's; whatever fails in here is not seen."""

import io
import logging
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any
from wsgiref.util import FileWrapper

import pytest
from agent_feedback import callbacks, instrumentation, json_splice

from tests.sdk.endpoint import KEY
from tests.sdk.site import BODY, JSON, Client, CountingBody, fetch, fetch_both, make_app

LENGTH = ("Content-Length", str(len(BODY)))


@pytest.fixture
def feedback() -> Client:
    return Client()


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("200 OK", [JSON, LENGTH]),
        ("200 OK", [JSON]),
        ("404 Not Found", [JSON]),
        ("200 OK", [("Content-Type", "text/html")]),
        ("200 OK", [JSON, ("Content-Length", "2000000")]),
        ("200 OK", [JSON, ("Content-Length", "3")]),
    ],
)
def test_the_products_body_is_closed_exactly_once(feedback: Client, status: str, headers: list[Any]) -> None:
    body = CountingBody(BODY)
    fetch(feedback.wsgi(make_app(body, status, headers)), is_strict=False)
    assert body.closed == 1


def test_the_products_body_is_closed_by_the_server_and_not_before(feedback: Client) -> None:
    body = CountingBody(BODY)
    chunks = feedback.wsgi(make_app(body, headers=[JSON, LENGTH]))({"PATH_INFO": "/"}, lambda *start: None)
    assert b"_agentFeedback" in b"".join(chunks)
    assert body.closed == 0
    chunks.close()
    assert body.closed == 1


def test_a_generator_that_nobody_reads_is_closed_all_the_same(feedback: Client) -> None:
    body = CountingBody(BODY)
    chunks = feedback.wsgi(lambda environ, start_response: body)({"PATH_INFO": "/"}, lambda *start: None)
    chunks.close()
    assert body.closed == 1


def test_an_exception_of_the_product_comes_through(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [JSON])
        raise LookupError("the product's own")

    with pytest.raises(LookupError, match="the product's own"):
        fetch(feedback.wsgi(app))


@pytest.mark.parametrize("headers", [[JSON], [JSON, LENGTH], [("Content-Type", "text/html")]])
def test_an_exception_in_the_middle_of_a_body_comes_through_and_closes_it(feedback: Client, headers: list[Any]) -> None:
    body = CountingBody(BODY[:3], BODY[3:], fails_after=1)
    with pytest.raises(LookupError, match="the product's own"):
        fetch(feedback.wsgi(make_app(body, headers=headers)), is_strict=False)
    assert body.closed == 1


@pytest.mark.parametrize("body", [CountingBody(BODY[:3], BODY[3:], fails_after=1), CountingBody(BODY, fails_after=0)])
def test_a_failure_in_a_body_comes_after_the_start_and_the_chunks_before_it(feedback: Client, body: Any) -> None:
    def serve(app: Any) -> list[Any]:
        seen: list[Any] = []
        chunks = app({"PATH_INFO": "/"}, lambda *start: seen.append(start))
        try:
            seen.extend(chunks)
        except LookupError as error:
            seen.append(str(error))
        return seen

    app = make_app(body, headers=[JSON, LENGTH, ("ETag", '"1"')])
    seen = serve(feedback.wsgi(app))
    assert seen == serve(app)
    assert (seen[0][0], seen[-1]) == ("200 OK", "the product's own")
    assert feedback.events == []


def test_a_chunk_that_is_no_bytes_is_for_the_server_to_refuse(feedback: Client) -> None:
    app = make_app(iter([BODY, "text", BODY]), headers=[JSON, ("Content-Length", "26")])  # type: ignore[arg-type]  # as a product may
    starts: list[Any] = []
    assert list(feedback.wsgi(app)({"PATH_INFO": "/"}, lambda *start: starts.append(start))) == [BODY, "text", BODY]
    assert len(starts) == 1


def test_a_server_that_refuses_the_start_still_has_the_body_closed(feedback: Client) -> None:
    def refuse(*start: Any) -> None:
        raise AssertionError("headers already sent")

    body = CountingBody(BODY)
    with pytest.raises(AssertionError, match="already sent"):
        feedback.wsgi(make_app(body, headers=[JSON, LENGTH]))({"PATH_INFO": "/"}, refuse)
    assert body.closed == 1


@pytest.mark.parametrize("name", ["customer_ref", "session_ref", "runtime_hint"])
def test_a_callback_that_fails_leaves_the_response_as_it_was(name: str, caplog: pytest.LogCaptureFixture) -> None:
    feedback = Client(**{name: lambda environ: environ["no such thing"]})
    app = make_app(headers=[JSON, ("ETag", '"1"')])
    wrapped_app = feedback.wsgi(app)
    assert [fetch(wrapped_app) for _ in range(3)] == [fetch(app)] * 3
    assert feedback.events == []
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (json_splice, "splice"),
        (json_splice, "read_value"),
        (callbacks, "normalize_operation"),
        (instrumentation, "is_eligible"),
        (instrumentation, "Interaction"),
    ],
)
@pytest.mark.parametrize("body", [[BODY], CountingBody(BODY[:3], BODY[3:])])
def test_a_mistake_of_ours_leaves_the_response_as_it_was(
    feedback: Client, monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, body: Iterable[bytes]
) -> None:
    def fail(*arguments: Any) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(module, name, fail)
    plain, response = fetch_both(make_app(body, headers=[JSON, LENGTH]), feedback)
    assert response == plain


@pytest.mark.parametrize("reference", [42, "", None, "a b", "x" * 161, "né", b"bytes", ["list"]])
def test_a_reference_that_the_service_would_refuse_is_left_out(reference: Any) -> None:
    feedback = Client(customer_ref=lambda environ: reference, session_ref=lambda environ: reference)
    assert fetch(feedback.wsgi(make_app())).has_envelope
    assert not {"customerRef", "sessionRef", "sessionSource"} & feedback.events[0].keys()


def test_a_long_hint_is_cut() -> None:
    feedback = Client(runtime_hint=lambda environ: "x" * 500)
    fetch(feedback.wsgi(make_app()))
    assert feedback.events[0]["runtimeHint"] == "x" * 200


@pytest.mark.parametrize("status", ["nonsense", "", "2xx"])
def test_a_status_that_cannot_be_read_passes_to_the_server(feedback: Client, status: str) -> None:
    plain, response = fetch_both(make_app(status=status), feedback, is_strict=False)
    assert response == plain


def test_a_product_that_starts_over_with_an_error_passes_as_it_is(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        try:
            start_response("200 OK", [JSON])
            raise LookupError
        except LookupError:
            start_response("500 Oops", [JSON], sys.exc_info())
            return [b'{"error":1}']

    response = fetch(feedback.wsgi(app))
    assert (response.status, response.headers, response.body, response.starts) == (
        "500 Oops",
        [JSON],
        b'{"error":1}',
        1,
    )


def test_a_product_that_starts_over_while_its_body_is_read_passes_as_it_is(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [JSON, LENGTH])

        def chunks() -> Iterator[bytes]:
            try:
                raise LookupError
            except LookupError:
                start_response("500 Oops", [JSON], sys.exc_info())
                yield b'{"error":1}'

        return chunks()

    response = fetch(feedback.wsgi(app), is_strict=False)
    assert (response.status, response.headers, response.body, response.starts) == (
        "500 Oops",
        [JSON],
        b'{"error":1}',
        1,
    )


@pytest.mark.parametrize(("headers", "is_extended"), [([JSON, LENGTH], True), ([JSON], False)])
def test_a_file_is_extended_if_it_says_how_long_it_is(feedback: Client, headers: list[Any], is_extended: bool) -> None:
    file = io.BytesIO(BODY)

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", headers)
        wrapper: Iterable[bytes] = environ["wsgi.file_wrapper"](file, 4)
        return wrapper

    response = fetch(feedback.wsgi(app), **{"wsgi.file_wrapper": FileWrapper})
    assert response.has_envelope == is_extended
    assert is_extended or (response.body, response.headers) == (BODY, headers)
    assert file.closed


def test_a_file_that_is_too_long_goes_out_as_the_very_object_that_the_server_can_send_quickly() -> None:
    wrapper = FileWrapper(io.BytesIO(BODY))
    app = Client(max_body_bytes=4).wsgi(make_app(wrapper, headers=[JSON, LENGTH]))
    assert app({"PATH_INFO": "/"}, lambda *start: None) is wrapper
