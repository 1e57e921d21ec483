"""The script element is inserted where every HTML parser sees it as an element, or not at all."""

import pytest
from agent_feedback.html_insert import insert_scripts, read_page
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

ID = "agent-service-context"
ELEMENT = f'<script id="{ID}" type="application/json">{{"a":"\\u003c/script>"}}</script>'.encode()


def insert_element(body: bytes) -> bytes | None:
    page = read_page(body)
    if page is None or ID.encode() in page.ids:
        return None
    return insert_scripts(body, page.offset, {ID: '{"a":"</script>"}'})


@pytest.mark.parametrize(
    "page",
    [
        b"<html><head><title>a</title>|</head><body></body></html>",
        b"<HTML><HEAD>|</HEAD><BODY></BODY></HTML>",
        b"<head>|</head ><head></head>",
        b"<body>a</body><p>|</body></html>",
        b"<p>a|",
        b"only text|",
        b"a < b and <3|",
        b"a </3 b> c|",
        b"<head><!-- </head> -->|</head>",
        b"<head><!-- a --!>|</head><!-- -->",
        b"<head><!-- a --!>|</head>",
        b"<head><!-- a --!--->|</head>",
        b"<head><script><script <!-- </script>|</head>",
        b"<head><!-->|</head>",
        b"<head><!--->|</head>",
        b"<!doctype html></ ><?php </head> ?>|</head>",
        b'<head><meta content="</head>">|</head>',
        b"<head><meta content = '</head>' >|</head>",
        b"<head><meta content=a\"b>|</head><p title='x'>",
        b'<head><meta a"b>|</head>',
        b'<head><meta a=="b>|</head>',
        b'<head><meta ="b>|</head>',
        b"<head><meta a= >|</head>",
        b"<head><meta a/='b>|</head>",
        b"<head><script><!-- </script>|</head>",
        b"<head><script>'</head>'</script>|</head>",
        b"<head><script>'</scripted></head>'</SCRIPT >|</head>",
        b"<head><style></head></style>|</head>",
        b"<head><title></head></title>|</head>",
        b"<textarea></body></textarea>|</body>",
        b"<header></header><p>|",
        b'<p id="another">|',
        b'<p data-id="agent-service-context">|',
        b'<p title=" id=agent-service-context-two">|',
        "<head>é ключ|</head>".encode(),
    ],
)
def test_the_element_is_inserted_before_the_end_of_the_head_the_body_or_the_page(page: bytes) -> None:
    head, tail = page.split(b"|")
    assert insert_element(head + tail) == head + ELEMENT + tail


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" \n",
        b"<!-- never closed </head>",
        b"<script>never closed </head>",
        b"<p title='never closed></head>",
        b"<p never closed ",
        b"<plaintext></head>",
        b"<! never closed",
        b"a </3 never closed",
        b"<script><!-- <script> </script> --></script></head>",
        b"<svg><![CDATA[</head>]]></svg></head>",
        b"<script id=agent-service-context>{}</script>",
        b"<script type=a ID='agent-service-context'>{}</script>",
        b'<div class="a"id="agent-service-context">',
        "<head></head>".encode("utf-16"),
        "<head></head>".encode("utf-16-le"),
    ],
)
def test_an_ambiguous_page_gets_no_element(body: bytes) -> None:
    assert insert_element(body) is None


_FRAGMENTS = (
    "<head> </head> <body> </body> <!-- --> --!> <script> </script> <p_a=' '> \" = < > text <style> </style> <! </ "
)
_fragments = st.sampled_from([*_FRAGMENTS.split(" "), "<title>", "</title>", "/>", "<a_href=x>", "_"])


@given(st.lists(_fragments, max_size=14).map(lambda fragments: "".join(fragments).replace("_", " ")))
@example("<title><script></title>")
@example("<!--></head>-->")
def test_any_page_has_the_element_once_or_is_unchanged(text: str) -> None:
    page = insert_element(text.encode())
    if page is not None:
        assert len(LexborHTMLParser(page).css(f"#{ID}")) == 1


def test_a_large_page_of_brackets_is_read_once() -> None:
    """Would take minutes if the time grew with the square of the length."""
    for fragment in (b"<", b"<a ", b"<!--", b"<p a='", b"<script>", b"</", b"<a id='"):
        read_page(fragment * 100_000)
    assert read_page(b"<script>" + b"<!--" * 100_000 + b"</script>") is not None
    assert read_page(b"<!--" + b"--!><!--" * 100_000 + b"-->") is not None
