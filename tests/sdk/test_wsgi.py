"""The WSGI adapter adds the envelope to JSON objects, and passes every other response unchanged."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.sdk.site import BODY, JSON, Client, CountingBody, fetch, fetch_both, make_app

SHARED_CACHE_HEADERS = [
    ("Cache-Control", "public"),
    ("Cache-Control", "max-age=60"),
    ("cache-control", "no-cache, S-MaxAge = 60"),
    ("Cache-Control", 'private="set-cookie", max-age=60'),
    ("Expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
    *((name, "max-age=60") for name in ("CDN-Cache-Control", "Surrogate-Control")),
]


@pytest.fixture
def feedback() -> Client:
    return Client()


def test_an_eligible_object_gets_the_envelope(feedback: Client) -> None:
    _, response = fetch_both(make_app(), feedback)
    assert response.body.startswith(BODY[:-2] + b',"_agentFeedback":{')
    assert response.body.endswith(b"}}\n")
    assert json.loads(response.body)["_agentFeedback"]["state"] == "feedback_ready"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=UTF-8",
        'Application/JSON;charset="utf-8"',
        "application/vnd.api+json",
        "application/ld+json",
    ],
)
def test_every_json_content_type_is_accepted(feedback: Client, content_type: str) -> None:
    assert fetch_both(make_app(headers=[("content-TYPE", content_type)]), feedback)[1].has_envelope


def test_the_headers_are_those_of_the_new_body(feedback: Client) -> None:
    stale_headers = [
        ("ETag", '"1"'),
        ("Digest", "sha-256=x"),
        ("Content-Digest", "sha-256=:x:"),
        ("Repr-Digest", "sha-256=:x:"),
        ("Content-MD5", "x"),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "no-cache"),
    ]
    other_headers = [
        JSON,
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("Link", '</next>; rel="next"'),
        ("Vary", "Accept"),
    ]
    _, response = fetch_both(make_app(headers=[*stale_headers, *other_headers]), feedback)
    assert response.headers == [
        *other_headers,
        ("Content-Length", str(len(response.body))),
        ("Cache-Control", "private, no-store"),
        (
            "Link",
            '<https://feedback.example.com/.well-known/agent-feedback-v1.json>; rel="agent-feedback"; '
            'type="application/json"',
        ),
    ]


def test_each_response_has_its_own_interaction_and_telemetry_event() -> None:
    feedback = Client(
        customer_ref=lambda environ: "account_42",
        session_ref=lambda environ: environ["HTTP_X_SESSION"],
        runtime_hint=lambda environ: "an-agent/1.0",
    )
    for _ in range(2):
        fetch(feedback.wsgi(make_app(status="201 Created")), "/orders/12", HTTP_X_SESSION="s1")
    assert feedback.events[0].pop("interactionId") != feedback.events[1].pop("interactionId")
    assert feedback.events[0].pop("durationMs") >= 0
    assert feedback.events[0].pop("occurredAt").endswith("Z")
    assert feedback.events[0] == {
        "surface": "http_json",
        "operation": "/orders/:id",
        "classification": "unclassified",
        "statusCode": 201,
        "customerRef": "account_42",
        "sessionRef": "s1",
        "sessionSource": "customer",
        "runtimeHint": "an-agent/1.0",
        "runtimeHintSource": "http",
    }


def test_a_path_that_is_not_ascii_is_named_as_the_client_wrote_it() -> None:
    feedback = Client(include=["/é/*"])
    fetch(feedback.wsgi(make_app()), "/é/ü".encode().decode("latin-1"), is_strict=False)
    assert [event["operation"] for event in feedback.events] == ["/%C3%A9/%C3%BC"]


@pytest.mark.parametrize("status", ["101 X", "203 X", "207 X", "299 X", "304 X", "301 X", "404 X", "500 X"])
def test_only_a_success_is_extended(feedback: Client, status: str) -> None:
    original_response, response = fetch_both(make_app(status=status), feedback, is_strict=False)
    assert response.has_envelope == (status[0] == "2")
    assert response.has_envelope or response == original_response


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("204 No Content", []),
        ("205 Reset Content", [JSON]),
        ("206 Partial Content", [JSON]),
        ("200 OK", [JSON, ("Content-Range", "bytes 0-9/99")]),
        ("200 OK", [JSON, ("Content-Encoding", "gzip")]),
        ("200 OK", [JSON, ("Content-Encoding", "gzip"), ("Content-Encoding", "identity")]),
        ("200 OK", [("Content-Type", "text/original_response; application/json")]),
        ("200 OK", [("Content-Type", "application/json; charset=utf-16")]),
        ("200 OK", [("Content-Type", "application/x-ndjson")]),
        ("200 OK", [("Content-Type", "text/event-stream")]),
        *(("200 OK", [JSON, policy]) for policy in SHARED_CACHE_HEADERS),
        ("200 OK", [JSON, SHARED_CACHE_HEADERS[1], ("Cache-Control", "no-cache")]),
    ],
)
def test_an_ineligible_response_passes_unchanged(feedback: Client, status: str, headers: list[Any]) -> None:
    body = b"" if "204" in status else BODY
    original_response, response = fetch_both(make_app(body, status, headers), feedback)
    assert response == original_response
    assert feedback.events == []


@pytest.mark.parametrize("body", [b"[1", b'{"a":', b"", b'{"_agentFeedback":1}', b'{"a":"\\ud800"}'])
def test_a_body_that_takes_no_envelope_passes_unchanged(feedback: Client, body: bytes) -> None:
    original_response, response = fetch_both(make_app(body, headers=[JSON, ("ETag", '"1"')]), feedback)
    assert response == original_response


@pytest.mark.parametrize("policy", ["private", "no-store", "private, max-age=60", "no-cache"])
def test_a_policy_that_excludes_shared_caches_is_accepted(feedback: Client, policy: str) -> None:
    assert fetch_both(make_app(headers=[JSON, ("Cache-Control", policy)]), feedback)[1].has_envelope


@pytest.mark.parametrize("policy", SHARED_CACHE_HEADERS)
def test_the_private_mode_removes_the_policy_of_shared_caches(policy: tuple[str, str]) -> None:
    response = fetch(Client(cache_mode="private").wsgi(make_app(headers=[JSON, policy])))
    assert response.has_envelope
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert (
        not response.get_all("Expires") + response.get_all("CDN-Cache-Control") + response.get_all("Surrogate-Control")
    )


def test_a_stream_without_a_length_passes_chunk_by_chunk(feedback: Client) -> None:
    chunks_read: list[bytes] = []

    def stream() -> Iterator[bytes]:
        for chunk in (b'{"a":', b"1}"):
            chunks_read.append(chunk)
            yield chunk

    chunks = iter(feedback.wsgi(make_app(stream()))({"PATH_INFO": "/"}, lambda *start: None))
    assert not chunks_read
    assert (next(chunks), chunks_read) == (b'{"a":', [b'{"a":'])


def test_a_finite_body_in_chunks_is_extended(feedback: Client) -> None:
    body = CountingBody(b'{"a"', b": 1.", b"0}\n")
    response = fetch(feedback.wsgi(make_app(body, headers=[JSON, ("Content-Length", "11")])))
    assert json.loads(response.body)["a"] == 1
    assert (response.has_envelope, body.closed) == (True, 1)


def test_a_list_of_chunks_without_a_length_is_extended(feedback: Client) -> None:
    response = fetch(feedback.wsgi(make_app([b'{"a"', b":1}"])))
    assert (response.has_envelope, response.get_all("Content-Length")) == (True, [str(len(response.body))])


@pytest.mark.parametrize("content_length", ["5", "10", "12", "99", "-1", "x", "\xb2"])
def test_a_body_that_is_not_as_long_as_it_says_passes_unchanged(feedback: Client, content_length: str) -> None:
    for body in ([BODY], CountingBody(BODY)):
        original_response, response = fetch_both(
            make_app(body, headers=[JSON, ("Content-Length", content_length)]), feedback, is_strict=False
        )
        assert response == original_response


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize(("limit", "is_extended"), [(len(BODY), True), (len(BODY) - 1, False)])
def test_a_body_above_the_limit_passes_unchanged(limit: int, is_extended: bool, has_length: bool) -> None:
    # The validator around the product would make an iterator of its list.
    original_response, response = fetch_both(
        make_app(has_length=has_length), Client(max_body_bytes=limit), is_strict=False
    )
    assert response.has_envelope == is_extended
    assert is_extended or response == original_response


def test_an_endless_body_that_lies_about_its_length_is_not_read_to_its_end() -> None:
    def endless_body() -> Iterator[bytes]:
        while True:
            yield b"x" * 10

    app = Client(max_body_bytes=100).wsgi(make_app(endless_body(), headers=[JSON, ("Content-Length", "20")]))
    chunks = iter(app({"PATH_INFO": "/"}, lambda *start: None))
    assert b"".join(next(chunks) for _ in range(50)) == b"x" * 500


def test_a_product_that_calls_write_passes_unchanged(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        write = start_response("200 OK", [JSON])
        write(b'{"a":')
        write(b"1")
        return [b"}"]

    original_response, response = fetch_both(app, feedback)
    assert response == original_response
    assert (response.body, response.starts) == (b'{"a":1}', 1)


def test_a_product_that_calls_write_while_its_body_is_read_starts_once(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        write = start_response("200 OK", [JSON, ("Content-Length", "7")])

        def chunks() -> Iterator[bytes]:
            write(b'{"a":')
            yield b"1}"

        return chunks()

    response = fetch(feedback.wsgi(app), is_strict=False)
    assert (response.body, response.starts) == (b'{"a":1}', 1)


@pytest.mark.parametrize("body", [BODY, b""])
def test_the_answer_to_head_passes_unchanged(feedback: Client, body: bytes) -> None:
    app = make_app([body] if body else [], headers=[JSON, ("Content-Length", "11"), ("ETag", '"1"')])
    original_response, response = fetch_both(app, feedback, REQUEST_METHOD="HEAD", is_strict=False)
    assert response == original_response


def test_the_kill_switch_disables_the_adapter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    feedback, app = Client(), make_app()
    assert feedback.wsgi(app) is app
    interaction = feedback.start("/")
    interaction.finish(status_code=200)
    assert interaction.envelope() == {}
    assert feedback.events == []
