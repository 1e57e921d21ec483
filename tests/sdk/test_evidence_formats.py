"""Every format of access log, as servers write it and as an attacker would."""

import json
from typing import Any

import pytest
from agent_feedback.evidence import combined as combined_format
from agent_feedback.evidence.formats import FORMATS, detect
from agent_feedback.evidence.record import Malformed, Record, parse_status, parse_time
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.evidence_logs import (
    CHATGPT,
    CLOUDFRONT_HEAD,
    EPOCH,
    GPTBOT,
    caddy,
    cloudflare,
    cloudfront,
    combined_line,
    fastly,
    nginx_json,
)

LINES = {
    "combined": combined_line,
    "nginx-json": nginx_json,
    "caddy": caddy,
    "cloudfront": cloudfront,
    "cloudflare": cloudflare,
    "fastly": fastly,
}


def parse(name: str, line: str | bytes, **keys: str) -> Record | None:
    content = line.encode() if isinstance(line, str) else line
    return FORMATS[name].make_parser(CLOUDFRONT_HEAD.encode(), keys)(content.rstrip(b"\n"))


@pytest.mark.parametrize("name", LINES)
def test_a_usual_line_is_read(name: str) -> None:
    record = parse(name, LINES[name](GPTBOT, CHATGPT))
    assert record
    assert record._replace(fields={}) == Record(EPOCH, "GET", 200, GPTBOT, CHATGPT, "20.171.206.9")


@pytest.mark.parametrize("name", LINES)
def test_a_format_is_told_from_its_lines_even_after_a_bad_one(name: str) -> None:
    head = CLOUDFRONT_HEAD if name == "cloudfront" else ""
    text = head + LINES[name](GPTBOT, CHATGPT)
    assert detect(text.encode(), {}) is FORMATS[name]
    assert detect(b"\x00\xff garbage\n{\n" + text.encode(), {}) is FORMATS[name]


def test_nothing_is_told_from_nothing() -> None:
    assert detect(b"", {}) is None
    assert detect(b'\x00\x01\n{"a": 1}\nhello\n', {}) is None


@pytest.mark.parametrize(
    ("line", "address"),
    [
        (combined_line(address="2001:db8::1"), "2001:db8::1"),
        ("shop.example.com:443 " + combined_line(), "20.171.206.9"),
        (combined_line().replace("- -", "- jane doe"), "20.171.206.9"),
        (combined_line().rstrip() + ' "203.0.113.9" rt=0.004\n', "20.171.206.9"),
    ],
)
def test_variants_of_combined_are_read(line: str, address: str) -> None:
    record = parse("combined", line)
    assert record
    assert (record.address, record.user_agent) == (address, GPTBOT)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"a \"quoted\" agent", 'a "quoted" agent'),
        (r"a \x22quoted\x22 agent", 'a "quoted" agent'),
        (r"back\\slash", "back\\slash"),
        (r"not twice \\x22", r"not twice \x22"),
        ("-", ""),
    ],
)
def test_what_a_server_escaped_is_undone(text: str, value: str) -> None:
    record = parse("combined", combined_line(text, text))
    assert record
    assert (record.user_agent, record.referrer) == (value, value)


def test_keys_of_ones_own_are_found() -> None:
    line = json.dumps({"t": EPOCH, "req": {"verb": "HEAD", "ua": [GPTBOT]}, "code": 304, "from.page": CHATGPT})
    keys = {"time": "t", "method": "req.verb", "user_agent": "req.ua", "status": "code", "referrer": "from.page"}
    record = parse("nginx-json", line, **keys)
    assert record
    assert (record.method, record.status, record.user_agent, record.referrer) == ("HEAD", 304, GPTBOT, CHATGPT)
    assert detect(line.encode(), keys) is FORMATS["nginx-json"]


def test_a_prefix_of_a_log_shipper_is_passed_over() -> None:
    record = parse("fastly", "<134>2026-11-20T10:11:12Z cache-iad-kiad7000025 log[1234]: " + fastly())
    assert record
    assert record.user_agent == GPTBOT


def test_columns_go_by_the_last_line_that_names_them() -> None:
    parser = FORMATS["cloudfront"].make_parser(CLOUDFRONT_HEAD.encode(), {})
    assert parser(b"#Fields: time date sc-status cs-method cs(User-Agent)") is None
    record = parser(b"10:11:12\t2026-11-20\t404\tHEAD\tGPTBot/1.2")
    assert record == Record(EPOCH, "HEAD", 404, "GPTBot/1.2")


def test_a_user_agent_that_was_encoded_twice_is_read() -> None:
    record = parse("cloudfront", cloudfront("x GPTBot/1.2").replace("%20", "%2520"))
    assert record
    assert record.user_agent == "x GPTBot/1.2"


@pytest.mark.parametrize(
    "text",
    [
        *("2026-11-20T10:11:12Z", "2026-11-20T11:11:12+01:00", "2026-11-20 04:41:12 -0530", "2026-11-20T10:11:12+0000"),
        *("20/Nov/2026:11:11:12 +0100", EPOCH, float(EPOCH), EPOCH * 1000, EPOCH * 10**6, EPOCH * 10**9),
        *(str(EPOCH), f"{EPOCH}.000"),
    ],
)
def test_the_usual_ways_to_write_a_time_are_one(text: object) -> None:
    assert parse_time(text) == EPOCH


@pytest.mark.parametrize(
    "text",
    [
        *("", "yesterday", "2026-11-20T10:11:12", "2026-13-20T10:11:12Z", "20/Foo/2026:11:11:12 +0100", "９９"),
        *(None, True, float("nan"), float("inf"), -1, 10**400, "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00Z"),
    ],
)
def test_what_is_no_time_is_malformed(text: object) -> None:
    with pytest.raises(Malformed):
        parse_time(text)


def test_half_a_second_is_kept() -> None:
    assert parse_time("2026-11-20T10:11:12.5Z") == EPOCH + 0.5


@pytest.mark.parametrize("text", [0, 99, 600, "000", "2xx", None, True, 200.0, "２００"])
def test_what_is_no_status_is_malformed(text: object) -> None:
    with pytest.raises(Malformed):
        parse_status(text)


HOSTILE = [
    b"",
    b"GPTBot",
    b"\x00" * 100 + b"GPTBot",
    b"\xff\xfe GPTBot \x80",
    b'{"GPTBot": ' + b"[" * 100_000,
    b'{"http_user_agent": "GPTBot", "time_iso8601": 1e999, "status": 1' + b"0" * 5000 + b"}",
    b"[1]",
    b'"GPTBot"',
    b"GPTBot\t" * 3,
    b"1.2.3.4 - - [" * 50_000 + b"GPTBot",
    b'1.2.3.4 - - [20/Nov/2026:11:11:12 +0100] "' + b"\\" * 1_000_000 + b"GPTBot",
    b'1.2.3.4 - - [20/Nov/2026:11:11:12 +0100] "' + b'" "' * 300_000 + b"GPTBot",
]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_line_is_malformed_and_no_more(name: str, line: bytes) -> None:
    with pytest.raises(Malformed):
        parse(name, line)


@pytest.mark.parametrize("name", ["nginx-json", "caddy", "cloudflare", "fastly"])
def test_json_with_nul_and_bad_utf_8_is_read(name: str) -> None:
    content = LINES[name]("x\x00 GPTBot").encode().replace(b"private", b"\xff\xfe")
    record = parse(name, content)
    assert record
    assert record.user_agent == "x\x00 GPTBot"


@given(st.binary(max_size=300), st.sampled_from(sorted(FORMATS)))
def test_no_bytes_at_all_break_a_parser(line: bytes, name: str) -> None:
    try:
        record = parse(name, line.replace(b"\n", b""))
    except Malformed:
        return
    assert record is None or isinstance(record, Record)


@given(st.text(st.characters(blacklist_characters='"\\\n', max_codepoint=0xFF), min_size=2, max_size=80))
def test_any_user_agent_comes_back_as_it_was_written(user_agent: str) -> None:
    record = combined_format.parse(combined_line(user_agent).encode("latin-1").rstrip(b"\n"))
    assert record.user_agent == user_agent


@pytest.mark.parametrize("extra", [{"status": None}, {"request": None}, {"time_iso8601": {}}])
def test_a_line_without_what_is_needed_does_not_count(extra: dict[str, Any]) -> None:
    try:
        record = parse("nginx-json", nginx_json(**extra))
    except Malformed:
        return
    assert record
    assert record.method not in ("GET", "HEAD")
