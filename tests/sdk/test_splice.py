"""The envelope goes into a JSON object, and no other byte of it changes."""

import json
from typing import Any

import pytest
from agent_feedback.envelope import ENVELOPE
from agent_feedback.json_splice import read_value, splice
from hypothesis import given
from hypothesis import strategies as st

CONTENT = {"v": 1, "text": 'quote " and </script> and é'}
CONTENT_JSON = json.dumps(CONTENT, separators=(",", ":"))
MEMBER = b'"_agentFeedback":' + CONTENT_JSON.encode()


def splice_member(body: bytes) -> bytes | None:
    content = read_value(body)
    has_room = isinstance(content, dict) and ENVELOPE not in content
    return splice(body, {ENVELOPE: CONTENT_JSON}) if has_room else None


@pytest.mark.parametrize(
    "body",
    [
        b'{"n":123456789012345678901234567890}',
        b'{"n":' + b"9" * 5000 + b"}",
        b'{"b":1,"a":2,"c":3}',
        b'{"a":1.0,"b":1e5,"c":-0.0,"d":1E+400,"e":0.10}',
        b'{"a":"\\u00e9\\/\\n\\"}\\ud83d\\ude00"}',
        b'{"a":1,"a":2}',
        b' \r\n\t{ "a" : 1 ,\n "b" : [ ] } \n\n',
        b'{"a":{"b":{"c":{}}}}',
        '{"ключ":"значение 😀"}'.encode(),
        b'{"a":"}"}\n',
    ],
)
def test_every_byte_stays(body: bytes) -> None:
    brace = body.rindex(b"}", 0, len(body.rstrip()))
    assert splice_member(body) == body[:brace] + b"," + MEMBER + body[brace:]


@pytest.mark.parametrize("body", [b"{}", b"{ }", b"{\n\n}\n", b"  {\t}"])
def test_an_empty_object_gets_no_comma_and_keeps_its_white_space(body: bytes) -> None:
    brace = body.rindex(b"}")
    assert splice_member(body) == body[:brace] + MEMBER + body[brace:]


@pytest.mark.parametrize(
    "body",
    [b'{"_agentFeedback":null}', b'{"a":1, "_agentFeedback" : {"v":1}}', b'{"\\u005fagentFeedback":1}'],
)
def test_an_object_that_has_an_envelope_is_left_alone(body: bytes) -> None:
    assert splice_member(body) is None


@pytest.mark.parametrize("body", [b'{"a":{"_agentFeedback":1}}', b'{"a":"_agentFeedback"}', b'{"_agentfeedback":1}'])
def test_the_name_elsewhere_is_no_envelope(body: bytes) -> None:
    assert splice_member(body) is not None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"[]",
        b'[{"a":1}]',
        b"1",
        b"null",
        b'"{}"',
        b"{",
        b'{"a":1',
        b'{"a":1,}',
        b"{'a':1}",
        b"{}{}",
        b'{"a":1}\n{"b":2}\n',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":01}',
        b'{"a":"\xff"}',
        b'{"a":"\n"}',
        b'{"a":"\\ud800"}',
        b'{"\\uDFFF":1}',
        b'{"a":"\\ude00\\ud83d"}',
        b"\xef\xbb\xbf{}",
        b"\x0b{}",
        '{"a":1}'.encode("utf-16"),
        '{"a":1}'.encode("utf-16-le"),
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
    ids=lambda body: repr(body[:16]),
)
def test_what_is_no_readable_object_is_left_alone(body: bytes) -> None:
    assert splice_member(body) is None


_texts = st.text(st.characters(exclude_categories=["Cs"]))
_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)
_spaces = st.text(" \t\r\n", max_size=3)


@given(
    content=st.dictionaries(_texts.filter(lambda name: name != "_agentFeedback"), _values, max_size=5),
    prefix=_spaces,
    suffix=_spaces,
    indent=st.sampled_from([None, 0, 2]),
    is_ascii=st.booleans(),
)
def test_any_object_comes_back_with_one_member_more_and_all_its_bytes(
    content: dict[str, Any], prefix: str, suffix: str, indent: int | None, is_ascii: bool
) -> None:
    body = (prefix + json.dumps(content, indent=indent, ensure_ascii=is_ascii) + suffix).encode()
    spliced_body = splice_member(body)
    assert spliced_body is not None
    members = json.loads(spliced_body)
    assert members.pop("_agentFeedback") == CONTENT
    assert members == content
    addition = (b"," if content else b"") + MEMBER
    position = spliced_body.rindex(addition)
    assert spliced_body[:position] + spliced_body[position + len(addition) :] == body


@given(st.binary(max_size=40))
def test_any_bytes_are_either_left_alone_or_stay_readable(body: bytes) -> None:
    spliced_body = splice_member(body)
    assert spliced_body is None or json.loads(spliced_body)["_agentFeedback"] == CONTENT
