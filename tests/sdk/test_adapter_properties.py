"""Whatever a product answers leaves byte for byte, or keeps its value beside the envelope, through both adapters."""

import base64
import json
import re
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sdk.adapters import ADAPTERS, Call, make_client, respond
from tests.sdk.site import Client, Headers, Response

ENVELOPE = "_agentFeedback"
ASK = {"Agent-Feedback-Request": "1"}
SCRIPT = re.compile(rb'<script id="agent-feedback" type="application/json">(.*?)</script>')


class Case(NamedTuple):
    """A response of a product, and whether the rules let it carry an envelope, as the one who made it up knows."""

    call: Call
    may_carry: bool
    must_carry: bool


# JSON as text: what matters is lost when it is parsed and written again.

white_space = st.sampled_from(["", "", " ", "\n  ", "\t", "\r\n"])
escapes = st.sampled_from(
    [
        "\\u0041",
        "\\u00e9",
        "\\/",
        "\\n",
        '\\"',
        "\\\\",
        "\\ud83d\\ude00",
        "\\u0000",
        "\\u2028",
        "\u2028",
        "😀",
        "</script>",
    ]
)
plain_text = st.text(st.characters(exclude_characters='"\\', exclude_categories=["Cc", "Cs"]), max_size=6)
strings = st.lists(st.one_of(plain_text, escapes), max_size=3).map(lambda parts: f'"{"".join(parts)}"')
numbers = st.one_of(
    st.integers().map(str),
    st.sampled_from(["0", "-0", "1.50", "-0.0", "1e5", "1E+400", "0.10000000000000000000001", "9" * 4_400]),
)
scalars = st.one_of(strings, numbers, st.sampled_from(["true", "false", "null"]))
keys = st.one_of(st.sampled_from(['"a"', '"a"', '"_service"', '"Z"', '"\\u0061"', '"_agentfeedback"']), strings)


def _array(values: list[str]) -> str:
    return f"[{','.join(values)}]"


def _object(members: list[tuple[str, str, str]]) -> str:
    return "{" + ",".join(f"{space}{key}{space}:{value}" for key, value, space in members) + "}"


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(keys, values, white_space), max_size=4).map(_object)


values = st.recursive(scalars, lambda inner: st.one_of(st.lists(inner, max_size=3).map(_array), _objects(inner)))
json_texts = st.one_of(_objects(values), _objects(values), values).flatmap(
    lambda text: st.tuples(white_space, st.just(text), white_space).map("".join)
)
envelopes_of_its_own = st.sampled_from(['{"_agentFeedback":1}', '{"a":1,"\\u005fagentFeedback" : {}}'])
FRAGMENTS = """<html> <head> </head> <body> </body> </html> text\u00e9 <p~a='</head>'> <!--~</head>~--> <!-- </HEAD~>
<script>1<2</script> <style> <p~id="agent-feedback"> < <title>a</title> </body"""
fragments = st.sampled_from(FRAGMENTS.split()).map(lambda fragment: fragment.replace("~", " "))
pages = st.lists(fragments, max_size=8).map("".join)

json_types = st.sampled_from(["application/json", "Application/JSON; charset=UTF-8", "application/problem+json"])
html_types = st.sampled_from(["text/html", "text/html; charset=utf-8", 'Text/HTML;charset="UTF-8"'])
other_types = st.sampled_from(
    ["text/plain", "application/json; profile=x", "text/event-stream", "image/png", "text/html; charset=utf-16"]
)
ordinary_headers = st.lists(
    st.sampled_from(
        [
            ("Set-Cookie", "a=1"),
            ("set-cookie", "b=2; Path=/"),
            ("ETag", '"1"'),
            ("Link", '</next>; rel="next"'),
            ("X-Text", "\xe9\xff"),
            ("Cache-Control", "no-cache"),
            ("Cache-Control", "private, max-age=60"),
            ("Content-Encoding", "identity"),
            ("Vary", "Accept"),
            ("Accept-Ranges", "bytes"),
        ]
    ),
    max_size=4,
    unique=True,
)
excluding_headers = st.sampled_from(
    [
        ("Content-Encoding", "gzip"),
        ("Content-Range", "bytes 0-1/2"),
        ("CDN-Cache-Control", "private"),
        ("surrogate-control", "x"),
    ]
)
good_statuses = st.sampled_from([200, 200, 200, 201, 202, 203, 226, 299])
bad_statuses = st.sampled_from([204, 205, 206, 301, 304, 400, 404, 500, 503])


@st.composite
def cases(draw: st.DrawFn) -> Case:
    kind = draw(st.sampled_from(["json", "json", "own envelope", "broken", "page", "other"]))
    is_page, is_other = kind == "page", kind == "other"
    text = draw(pages if is_page else envelopes_of_its_own if kind == "own envelope" else json_texts)
    body = text.encode()
    if kind == "broken":
        cut = draw(st.integers(0, len(body)))
        body = body[:cut] + draw(st.binary(max_size=3)) + body[cut + 1 :]
    headers: Headers = [("Content-Type", draw(html_types if is_page else other_types if is_other else json_types))]
    headers += draw(ordinary_headers)
    status, excluding = draw(good_statuses), draw(st.none() | st.none() | excluding_headers | bad_statuses)
    if isinstance(excluding, int):
        status = excluding
    elif excluding is not None:
        headers.append(excluding)
    length = draw(st.sampled_from(["right", "right", "none", "wrong"]))
    if length != "none":
        headers.append(("Content-Length", str(len(body) + (length == "wrong"))))
    may_carry = excluding is None and length != "wrong" and kind not in ("own envelope", "other")
    return Case(Call(body, headers, status), may_carry, may_carry and kind == "json")


@pytest.fixture(scope="module")
def feedback() -> Client:
    return make_client()


@settings(max_examples=150, deadline=None)
@given(case=cases())
def test_a_response_carries_an_envelope_or_leaves_as_it_is(feedback: Client, case: Case) -> None:
    surfaces = []
    for adapter in ADAPTERS:
        feedback.events.clear()
        original = respond(adapter, None, case.call)
        response = respond(adapter, feedback, case.call)
        assert (response.status, response.starts) == (original.status, 1)
        surfaces.append(feedback.events[0]["surface"] if feedback.events else None)
        if surfaces[-1] is None:
            assert response == original
        else:
            check_body(surfaces[-1], response, original.body)
            check_headers(response, original)
    assert surfaces[0] == surfaces[1]
    assert case.may_carry or surfaces[0] is None
    assert surfaces[0] is not None or not case.must_carry


def check_body(surface: str, response: Response, original: bytes) -> None:
    """Check that a body has the envelope, and is the original one otherwise."""
    if surface == "http_json":
        members = parse(response.body)
        assert members[:-1] == parse(original)
        assert members[-1][0] == ENVELOPE
        end = len(original.rstrip(b" \t\r\n")) - 1
        assert response.body.startswith(original[:end])
        assert response.body.endswith(original[end:])
        envelope: Any = dict(members[-1][1])
    elif surface == "http_html":
        ((text),) = SCRIPT.findall(response.body)
        assert SCRIPT.sub(b"", response.body) == original
        envelope = json.loads(text)
    else:
        assert response.body == original
        (value,) = response.get_all("Agent-Feedback")
        envelope = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)))
    assert (envelope["state"], len(response.get_all("Agent-Feedback"))) == ("feedback_ready", surface == "http_headers")


def parse(text: bytes) -> Any:
    """Return a value with the members of its objects in order, repeated ones too, and numbers as they are written."""
    return json.loads(text.decode(), object_pairs_hook=list, parse_int=str, parse_float=str)


def check_headers(response: Response, original: Response) -> None:
    """Check that only those headers changed that the envelope changes."""
    is_same_body = response.body == original.body
    replaced = {"cache-control", "expires", "agent-feedback"}
    replaced |= set() if is_same_body else {"content-length", "etag", "accept-ranges"}
    kept = [(name.lower(), value) for name, value in original.headers if name.lower() not in replaced]
    remaining = [(name.lower(), value) for name, value in response.headers if name.lower() not in replaced]
    assert remaining[:-1] == kept
    assert remaining[-1][0] == "link"
    assert response.get_all("Cache-Control") == ["private, no-store"]
    if not is_same_body:
        assert response.get_all("Content-Length") == [str(len(response.body))]
        assert response.get_all("ETag") == response.get_all("Accept-Ranges") == []


@settings(max_examples=50, deadline=None)
@given(case=cases(), is_asked=st.booleans())
def test_by_request_an_ordinary_response_changes_by_two_headers_at_most(case: Case, is_asked: bool) -> None:
    feedback = make_client(cache_mode="request")
    call = Call(case.call.body, case.call.headers, case.call.status, request_headers=ASK if is_asked else {})
    for adapter in ADAPTERS:
        feedback.events.clear()
        original, response = respond(adapter, None, call), respond(adapter, feedback, call)
        if feedback.events:
            assert is_asked
            continue
        assert (response.status, response.body) == (original.status, original.body)
        added = [header for header in lower(response.headers) if header not in lower(original.headers)]
        assert {name for name, _ in added} <= {"vary", "link"}
        assert [header for header in lower(response.headers) if header not in added] == lower(original.headers)


def lower(headers: Headers) -> Headers:
    return [(name.lower(), value) for name, value in headers]
