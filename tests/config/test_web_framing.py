"""Where a request ends in the bytes that have arrived."""

import pytest
from gunicorn.config import Config
from gunicorn.http import errors, get_parser
from hypothesis import given
from hypothesis import strategies as st

from config.body_limits import AGENT_BODY_BYTES, BATCH_BODY_BYTES
from config.web_framing import MAX_HEAD_BYTES, Extent, RequestBuffer

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def post(*lines: str, path: str = "/api/v2/outcomes") -> bytes:
    return "\r\n".join([f"POST {path} HTTP/1.1", "Host: localhost", *lines, "", ""]).encode()


def extent(content: bytes) -> Extent | None:
    buffer = RequestBuffer()
    buffer.append(content)
    return buffer.find_extent()


def is_handed_over_as_it_is(content: bytes) -> bool:
    return extent(content) == Extent(len(content), is_whole=False)


@st.composite
def fixed(draw: st.DrawFn) -> bytes:
    body = draw(st.binary(max_size=60))
    name = draw(st.sampled_from(["Content-Length", "content-length", "CONTENT-LENGTH"]))
    return post(f"{name}:{draw(st.sampled_from(['', ' ', chr(9)]))}{len(body)}") + body


@st.composite
def chunked(draw: st.DrawFn) -> bytes:
    chunks = draw(st.lists(st.binary(min_size=1, max_size=30), max_size=4))
    extension = draw(st.sampled_from([b"", b";a=b", b' ; a="x y"']))
    trailers = draw(st.sampled_from([b"", b"X-Sum: 1\r\n", b"X-One: 1\r\nX-Two: 2\r\n"]))
    body = b"".join(b"%x%s\r\n%s\r\n" % (len(chunk), extension, chunk) for chunk in chunks)
    return post("Transfer-Encoding: Chunked") + body + b"0\r\n" + trailers + b"\r\n"


REQUESTS = st.lists(st.one_of(st.just(GET), st.just(b"\r\n" + GET), fixed(), chunked()), min_size=1, max_size=4)


@given(REQUESTS, st.lists(st.integers(1, 50), min_size=1, max_size=20))
def test_pipelined_requests_are_told_apart_however_they_are_cut(requests: list[bytes], sizes: list[int]) -> None:
    content, buffer, taken, number = b"".join(requests), RequestBuffer(), [], 0
    while content:
        size = sizes[number % len(sizes)]
        buffer.append(content[:size])
        content, number = content[size:], number + 1
        while len(buffer) and (found := buffer.find_extent()):
            assert found.is_whole
            taken.append(buffer.take(found.length))
    assert (taken, len(buffer)) == (requests, 0)


@given(REQUESTS)
def test_gunicorn_finds_the_same_end(requests: list[bytes]) -> None:
    for request in requests:
        parser = get_parser(Config(), iter([request, GET]), ("127.0.0.1", 1))
        next(parser).body.read()
        assert parser.unreader.buf.getvalue() == b""


@pytest.mark.parametrize("missing", range(1, 6))
def test_an_unfinished_request_is_awaited(missing: int) -> None:
    for request in (GET, post("Content-Length: 9") + b"123456789", post("Transfer-Encoding: chunked") + b"0\r\n\r\n"):
        assert extent(request[:-missing]) is None


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: -1"],
        ["Content-Length: "],
        ["Content-Length: 1_0"],
        ["Content-Length: 5", "Content-Length: 5"],
        ["Content-Length: " + "9" * 5000],
        ["Content-Length: 5", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: exotic"],
        ["Transfer-Encoding: chunked, gzip"],
        ["Expect: something", "Content-Length: 5"],
    ],
)
def test_what_is_not_clear_is_left_to_the_parser_at_once(lines: list[str]) -> None:
    assert is_handed_over_as_it_is(post(*lines))


@pytest.mark.parametrize("chunks", [b"zz\r\n", b"\r\n", b"-1\r\nx", b"5 5\r\n", b"f" * 9000, b"1\r\nxy\r\nz\r\n"])
def test_malformed_chunks_are_left_to_the_parser_at_once(chunks: bytes) -> None:
    assert is_handed_over_as_it_is(post("Transfer-Encoding: chunked") + chunks)


@pytest.mark.parametrize("start", [b"GET / HTTP/1.1\nHost: x\n\n", b"GET /" + b"x" * 9000])
def test_a_head_that_will_not_end_is_left_to_the_parser_at_once(start: bytes) -> None:
    assert is_handed_over_as_it_is(start)


def test_a_head_beyond_its_limit_is_an_error() -> None:
    line = b"X: " + b"x" * 1000 + b"\r\n"
    assert extent(b"GET / HTTP/1.1\r\n" + line * 60) is None
    with pytest.raises(errors.LimitRequestHeaders):
        extent(b"GET / HTTP/1.1\r\n" + line * (MAX_HEAD_BYTES // len(line) + 1))


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        ("/api/v2/outcomes", AGENT_BODY_BYTES),
        ("/api/v2/telemetry/batches", BATCH_BODY_BYTES),
        ("/api/v2/telemetry/batches?a=/x", BATCH_BODY_BYTES),
        ("/?a=/batches", AGENT_BODY_BYTES),
    ],
)
def test_a_body_beyond_the_limit_of_its_path_is_not_awaited(path: str, limit: int) -> None:
    assert extent(post(f"Content-Length: {limit}", path=path)) is None
    assert is_handed_over_as_it_is(post(f"Content-Length: {limit + 1}", path=path))
    start = post("Transfer-Encoding: chunked", path=path) + b"%x\r\n" % (limit * 3)
    # One byte more than the endpoint takes tells it that the body is too large.
    assert extent(start + b"x" * limit) is None
    assert is_handed_over_as_it_is(start + b"x" * (limit + 1))


def test_a_chunked_body_is_bounded_with_its_framing() -> None:
    start = post("Transfer-Encoding: chunked")
    tiny = b"1\r\nx\r\n" * AGENT_BODY_BYTES
    assert extent(start + tiny + b"0\r\n\r\n") == Extent(len(start + tiny) + 5, is_whole=True)
    padded = b"1;a=" + b"a" * 100 + b"\r\nx\r\n"
    assert extent(start + padded * 4000) is None
    assert is_handed_over_as_it_is(start + padded * 5000)


@pytest.mark.parametrize("name", ["Expect", "EXPECT", "expect"])
def test_an_expectation_is_seen_with_the_head(name: str) -> None:
    buffer = RequestBuffer()
    buffer.append(post(f"{name}: 100-Continue", "Content-Length: 1"))
    assert buffer.find_extent() is None
    assert buffer.expects_continue
    buffer.append(b"x")
    buffer.take(len(buffer))
    assert not buffer.expects_continue


def test_an_empty_line_between_requests_is_no_request() -> None:
    buffer = RequestBuffer()
    assert buffer.is_blank()
    buffer.append(b"\r\n")
    assert buffer.is_blank()
    buffer.append(b"G")
    assert not buffer.is_blank()
