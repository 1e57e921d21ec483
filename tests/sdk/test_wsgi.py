"""The adapter extends JSON objects, and everything else passes byte for byte."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tests.sdk.site import BODY, JSON, App, Client, Watched, answering, both, fetch

SHARED = [
    ("Cache-Control", "public"),
    ("Cache-Control", "max-age=60"),
    ("cache-control", "no-cache, S-MaxAge = 60"),
    ("Cache-Control", 'private="set-cookie", max-age=60'),
    ("Expires", "Thu, 01 Dec 2033 16:00:00 GMT"),
    ("CDN-Cache-Control", "max-age=60"),
    ("Surrogate-Control", "max-age=60"),
]


@pytest.fixture
def feedback() -> Client:
    return Client()


def test_an_eligible_object_gets_the_envelope(feedback: Client) -> None:
    _, seen = both(answering(), feedback)
    assert seen.body.startswith(BODY[:-2] + b',"_agentFeedback":{')
    assert seen.body.endswith(b"}}\n")
    assert json.loads(seen.body)["_agentFeedback"]["state"] == "feedback_ready"


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json; charset=UTF-8",
        'Application/JSON;charset="utf-8"',
        "application/vnd.api+json",
        "application/ld+json",
    ],
)
def test_every_way_of_saying_json_is_understood(feedback: Client, content_type: str) -> None:
    assert both(answering(headers=[("content-TYPE", content_type)]), feedback)[1].has_envelope


def test_the_headers_are_those_of_the_new_body(feedback: Client) -> None:
    stale = [
        ("ETag", '"1"'),
        ("Digest", "sha-256=x"),
        ("Content-Digest", "sha-256=:x:"),
        ("Repr-Digest", "sha-256=:x:"),
        ("Content-MD5", "x"),
        ("Accept-Ranges", "bytes"),
        ("Cache-Control", "no-cache"),
    ]
    kept = [JSON, ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("Link", '</next>; rel="next"'), ("Vary", "Accept")]
    _, seen = both(answering(headers=[*stale, *kept]), feedback)
    assert seen.headers == [
        *kept,
        ("Content-Length", str(len(seen.body))),
        ("Cache-Control", "private, no-store"),
        (
            "Link",
            '<https://feedback.example.com/.well-known/agent-feedback-v1.json>; rel="agent-feedback"; '
            'type="application/json"',
        ),
    ]


def test_each_response_has_an_interaction_of_its_own_that_telemetry_tells_of() -> None:
    feedback = Client(
        customer_ref=lambda environ: "account_42",
        session_ref=lambda environ: environ["HTTP_X_SESSION"],
        runtime_hint=lambda environ: "an-agent/1.0",
    )
    for _ in range(2):
        fetch(feedback.wsgi(answering(status="201 Created")), "/orders/12", HTTP_X_SESSION="s1")
    assert feedback.told[0].pop("interactionId") != feedback.told[1].pop("interactionId")
    assert feedback.told[0].pop("durationMs") >= 0
    assert feedback.told[0].pop("occurredAt").endswith("Z")
    assert feedback.told[0] == {
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
    fetch(feedback.wsgi(answering()), "/é/ü".encode().decode("latin-1"), is_strict=False)
    assert [event["operation"] for event in feedback.told] == ["/%C3%A9/%C3%BC"]


@pytest.mark.parametrize("status", ["101 X", "203 X", "207 X", "299 X", "304 X", "301 X", "404 X", "500 X"])
def test_only_a_success_is_extended(feedback: Client, status: str) -> None:
    plain, seen = both(answering(status=status), feedback, is_strict=False)
    assert seen.has_envelope == (status[0] == "2")
    assert seen.has_envelope or seen == plain


@pytest.mark.parametrize(
    ("status", "headers"),
    [
        ("204 No Content", []),
        ("205 Reset Content", [JSON]),
        ("206 Partial Content", [JSON]),
        ("200 OK", [JSON, ("Content-Range", "bytes 0-9/99")]),
        ("200 OK", [JSON, ("Content-Encoding", "gzip")]),
        ("200 OK", [JSON, ("Content-Encoding", "gzip"), ("Content-Encoding", "identity")]),
        ("200 OK", [("Content-Type", "text/html")]),
        ("200 OK", [("Content-Type", "text/plain; application/json")]),
        ("200 OK", [("Content-Type", "application/json; charset=utf-16")]),
        ("200 OK", [("Content-Type", "application/x-ndjson")]),
        ("200 OK", [("Content-Type", "text/event-stream")]),
        *(("200 OK", [JSON, policy]) for policy in SHARED),
        ("200 OK", [JSON, SHARED[1], ("Cache-Control", "no-cache")]),
    ],
)
def test_an_ineligible_response_passes_as_it_is(feedback: Client, status: str, headers: list[Any]) -> None:
    body = b"" if "204" in status else BODY
    plain, seen = both(answering(body, status, headers), feedback)
    assert seen == plain
    assert feedback.told == []


@pytest.mark.parametrize("body", [b"[1]", b'"a"', b'{"a":', b"", b'{"_agentFeedback":1}', b'{"a":"\\ud800"}'])
def test_a_body_that_takes_no_envelope_passes_as_it_is(feedback: Client, body: bytes) -> None:
    plain, seen = both(answering(body, headers=[JSON, ("ETag", '"1"')]), feedback)
    assert seen == plain


@pytest.mark.parametrize("policy", ["private", "no-store", "private, max-age=60", "no-cache"])
def test_a_policy_that_keeps_shared_caches_out_is_no_hindrance(feedback: Client, policy: str) -> None:
    assert both(answering(headers=[JSON, ("Cache-Control", policy)]), feedback)[1].has_envelope


@pytest.mark.parametrize("policy", SHARED)
def test_the_private_mode_takes_the_policy_of_shared_caches_away(policy: tuple[str, str]) -> None:
    seen = fetch(Client(cache_mode="private").wsgi(answering(headers=[JSON, policy])))
    assert seen.has_envelope
    assert seen.all("Cache-Control") == ["private, no-store"]
    assert not seen.all("Expires") + seen.all("CDN-Cache-Control") + seen.all("Surrogate-Control")


def test_a_stream_without_a_length_passes_chunk_by_chunk(feedback: Client) -> None:
    taken: list[bytes] = []

    def stream() -> Iterator[bytes]:
        for chunk in (b'{"a":', b"1}"):
            taken.append(chunk)
            yield chunk

    chunks = iter(feedback.wsgi(answering(stream()))({"PATH_INFO": "/"}, lambda *start: None))
    assert not taken
    assert (next(chunks), taken) == (b'{"a":', [b'{"a":'])


def test_a_finite_body_in_chunks_is_extended(feedback: Client) -> None:
    body = Watched(b'{"a"', b": 1.", b"0}\n")
    seen = fetch(feedback.wsgi(answering(body, headers=[JSON, ("Content-Length", "11")])))
    assert json.loads(seen.body)["a"] == 1
    assert (seen.has_envelope, body.closed) == (True, 1)


def test_a_list_of_chunks_without_a_length_is_extended(feedback: Client) -> None:
    seen = fetch(feedback.wsgi(answering([b'{"a"', b":1}"])))
    assert (seen.has_envelope, seen.all("Content-Length")) == (True, [str(len(seen.body))])


@pytest.mark.parametrize("told", ["5", "10", "12", "99", "-1", "x", "\xb2"])
def test_a_body_that_is_not_as_long_as_it_says_passes_as_it_is(feedback: Client, told: str) -> None:
    for body in ([BODY], Watched(BODY)):
        plain, seen = both(answering(body, headers=[JSON, ("Content-Length", told)]), feedback, is_strict=False)
        assert seen == plain


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize(("limit", "is_extended"), [(len(BODY), True), (len(BODY) - 1, False)])
def test_a_body_above_the_cap_passes_as_it_is(limit: int, is_extended: bool, has_length: bool) -> None:
    # The validator around the product would make an iterator of its list.
    plain, seen = both(answering(has_length=has_length), Client(max_body_bytes=limit), is_strict=False)
    assert seen.has_envelope == is_extended
    assert is_extended or seen == plain


def test_an_endless_body_that_lies_about_its_length_is_not_read_to_its_end() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 10

    app = Client(max_body_bytes=100).wsgi(answering(endless(), headers=[JSON, ("Content-Length", "20")]))
    chunks = iter(app({"PATH_INFO": "/"}, lambda *start: None))
    assert b"".join(next(chunks) for _ in range(50)) == b"x" * 500


def test_a_generator_passes_as_it_is(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        start_response("200 OK", [JSON, ("Content-Length", str(len(BODY)))])
        yield BODY

    # The standard library's validator wants the start before the first chunk, which WSGI does not.
    plain, seen = both(app, feedback, is_strict=False)
    assert seen == plain
    assert seen.body == BODY


def test_a_product_that_writes_passes_as_it_is(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        write = start_response("200 OK", [JSON])
        write(b'{"a":')
        write(b"1")
        return [b"}"]

    plain, seen = both(app, feedback)
    assert seen == plain
    assert (seen.body, seen.starts) == (b'{"a":1}', 1)


def test_a_product_that_writes_while_its_body_is_read_starts_once(feedback: Client) -> None:
    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        write = start_response("200 OK", [JSON, ("Content-Length", "7")])

        def chunks() -> Iterator[bytes]:
            write(b'{"a":')
            yield b"1}"

        return chunks()

    seen = fetch(feedback.wsgi(app), is_strict=False)
    assert (seen.body, seen.starts) == (b'{"a":1}', 1)


@pytest.mark.parametrize("body", [BODY, b""])
def test_the_answer_to_head_passes_as_it_is(feedback: Client, body: bytes) -> None:
    app = answering([body] if body else [], headers=[JSON, ("Content-Length", "11"), ("ETag", '"1"')])
    plain, seen = both(app, feedback, REQUEST_METHOD="HEAD", is_strict=False)
    assert seen == plain


@pytest.mark.parametrize(
    "path",
    [
        "/health",
        "/healthz",
        "/readyz",
        "/metrics",
        "/favicon.ico",
        "/robots.txt",
        "/_service/v1/a",
        "/_agent-feedback/x",
    ],
)
def test_some_paths_are_always_excluded(feedback: Client, path: str) -> None:
    plain, seen = both(answering(), feedback, path)
    assert seen == plain


@pytest.mark.parametrize(
    ("path", "is_extended"),
    [
        ("/api/a", True),
        ("/api/a/b", False),
        ("/deep/a/b/c", True),
        ("/deep/private/a", False),
        ("/deep/a\nb", True),
        ("/deep/private/a\nb", False),
        ("/api", False),
        ("/apix", False),
        ("/exact.json", True),
        ("/exactxjson", False),
    ],
)
def test_patterns_choose_the_paths(path: str, is_extended: bool) -> None:
    feedback = Client(include=["/api/*", "/deep/**", "/exact.json"], exclude=["/deep/private/**"])
    assert fetch(feedback.wsgi(answering()), path).has_envelope == is_extended


def test_the_mount_point_belongs_to_the_path() -> None:
    app: App = Client(include=["/mounted/a"]).wsgi(answering())
    assert fetch(app, "/a", SCRIPT_NAME="/mounted").has_envelope


def test_the_kill_switch_takes_the_adapter_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    feedback, app = Client(), answering()
    assert feedback.wsgi(app) is app
    feedback.start_interaction().record("http_json", "/")
    assert feedback.told == []
