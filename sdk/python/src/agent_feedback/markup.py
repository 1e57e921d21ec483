"""Putting a script element into HTML where no reader takes it for anything else."""

import json
import re
from collections.abc import Iterator
from typing import Any

_NAME = re.compile(rb"/?[A-Za-z][^\s/>]*")
_SPACE = b" \t\r\n\f"
_RAW = (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes", b"noscript")
_ENDS_EVERYTHING = b"plaintext"
_ID = re.compile(rb"[\s\"'/]id\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)


def find_place(body: bytes, element_id: str) -> int | None:
    """Return where an element with this id can go: before `</head>`, else `</body>`, else at the end.

    None if the id is taken, or if the markup ends within something.
    """
    if not body.strip() or b"\0" in body[:4] or body[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return None
    places: dict[bytes, int] = {}
    end = 0
    try:
        for start, end, name in _tags(body):
            if name == b"/head":
                places.setdefault(name, start)
            elif name == b"/body":
                places[name] = start
            elif any(element_id.encode() in found for found in _ID.findall(body, start, end)):
                return None
    except _Unfinished:
        return None
    del end
    return places.get(b"/head", places.get(b"/body", len(body)))


def insert(body: bytes, place: int, element_id: str, content: dict[str, Any]) -> bytes:
    """Return the body with the content as a script element at a place."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    element = f'<script id="{element_id}" type="application/json">{text}</script>'
    return body[:place] + element.encode() + body[place:]


class _Unfinished(Exception):
    """The markup ends within a comment, a tag or raw text."""


def _tags(body: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield each tag with its start, its end and its lower-cased name, `/` before that of an end tag."""
    at = body.find(b"<")
    while at >= 0:
        after = body[at + 1 : at + 2]
        name = _NAME.match(body, at + 1)
        if name:
            end = _tag_end(body, name.end())
            word = name[0].lower()
            yield at, end, word
            if word == _ENDS_EVERYTHING:
                raise _Unfinished
            at = _raw_end(body, end, word) if word in _RAW else end
        elif body.startswith(b"<!--", at):
            at = _comment_end(body, at)
        elif after in (b"!", b"?", b"/"):
            at = _after(body, b">", at)
        else:
            at += 1
        at = body.find(b"<", at)


def _after(body: bytes, mark: bytes, start: int) -> int:
    found = body.find(mark, start)
    if found < 0:
        raise _Unfinished
    return found + len(mark)


def _comment_end(body: bytes, at: int) -> int:
    for short in (b"<!-->", b"<!--->"):
        if body.startswith(short, at):
            return at + len(short)
    ends = [found + len(mark) for mark in (b"-->", b"--!>") if (found := body.find(mark, at + 4)) >= 0]
    if not ends:
        raise _Unfinished
    return min(ends)


def _tag_end(body: bytes, at: int) -> int:
    """Return where a tag ends; a quote counts only where an attribute's value begins."""
    is_value = False
    while at < len(body):
        sign = body[at : at + 1]
        if is_value and sign in (b'"', b"'"):
            at, is_value = _after(body, sign, at + 1), False
            continue
        if sign == b">":
            return at + 1
        is_value = sign == b"=" or (is_value and sign in (b" ", b"\t", b"\r", b"\n", b"\f"))
        at += 1
    raise _Unfinished


def _raw_end(body: bytes, at: int, name: bytes) -> int:
    """Return where the end tag of a raw text element begins."""
    end = re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE).search(body, at)
    if end is None:
        raise _Unfinished
    return end.start()
