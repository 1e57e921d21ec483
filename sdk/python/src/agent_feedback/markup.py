"""Putting a script element into HTML where no reader takes it for anything else."""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_SPACE = rb"[ \t\r\n\f]"
_NAME = re.compile(rb"/?[A-Za-z][^ \t\r\n\f/>]*")
_GAP = re.compile(rb"[ \t\r\n\f/]*")
# A name may begin with an equals sign, and then has none within.
_ATTRIBUTE = re.compile(rb"([^ \t\r\n\f/>][^ \t\r\n\f/>=]*)(" + _SPACE + rb"*=" + _SPACE + rb"*)?")
_UNQUOTED = re.compile(rb"[^ \t\r\n\f>]*")
_RAW = {
    name: re.compile(rb"</" + name + rb"(?=[ \t\r\n\f/>])", re.IGNORECASE)
    for name in (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes", b"noscript")
}
_SCRIPT_IN_SCRIPT = re.compile(rb"<!--.*<script", re.IGNORECASE | re.DOTALL)


class _Tag(NamedTuple):
    """A tag: where it is, its lower-cased name with `/` before that of an end tag, and the element's id."""

    start: int
    name: bytes
    id: bytes | None


class _Unsure(Exception):
    """The markup ends within something, or its readers differ over it."""


def find_place(body: bytes, element_id: str) -> int | None:
    """Return where an element with this id can go: before `</head>`, else `</body>`, else at the end.

    None if the id is taken, or if no place is sure.
    """
    if not body.strip() or b"\0" in body[:4] or body[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return None
    head = end_of_body = None
    try:
        for tag in _tags(body):
            if tag.name == b"/head" and head is None:
                head = tag.start
            elif tag.name == b"/body":
                end_of_body = tag.start
            elif tag.id == element_id.encode():
                return None
    except _Unsure:
        return None
    return next((place for place in (head, end_of_body) if place is not None), len(body))


def insert(body: bytes, place: int, element_id: str, content: dict[str, Any]) -> bytes:
    """Return the body with the content as a script element at a place."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    element = f'<script id="{element_id}" type="application/json">{text}</script>'
    return body[:place] + element.encode() + body[place:]


def _tags(body: bytes) -> Iterator[_Tag]:
    at = body.find(b"<")
    while at >= 0:
        name = _NAME.match(body, at + 1)
        if name:
            word = name[0].lower()
            end, element_id = _read_tag(body, name.end())
            yield _Tag(at, word, element_id)
            at = _raw_end(body, end, word)
        elif body.startswith(b"<!--", at):
            at = _comment_end(body, at)
        elif body.startswith(b"<![CDATA[", at):
            raise _Unsure
        elif body[at + 1 : at + 2] in (b"!", b"?", b"/"):
            at = _after(body, b">", at)
        else:
            at += 1
        at = body.find(b"<", at)


def _read_tag(body: bytes, at: int) -> tuple[int, bytes | None]:
    """Return where a tag ends, and the id that it gives."""
    element_id = None
    while True:
        gap = _GAP.match(body, at)
        at = gap.end() if gap else at
        if body[at : at + 1] == b">":
            return at + 1, element_id
        attribute = _ATTRIBUTE.match(body, at)
        if attribute is None:
            raise _Unsure
        at = attribute.end()
        if attribute[2] is not None:
            value, at = _read_value(body, at)
            if attribute[1].lower() == b"id" and element_id is None:
                element_id = value


def _read_value(body: bytes, at: int) -> tuple[bytes, int]:
    quote = body[at : at + 1]
    if quote in (b'"', b"'"):
        end = _after(body, quote, at + 1)
        return body[at + 1 : end - 1], end
    value = _UNQUOTED.match(body, at)
    return (value[0], value.end()) if value else (b"", at)


def _after(body: bytes, mark: bytes, start: int) -> int:
    found = body.find(mark, start)
    if found < 0:
        raise _Unsure
    return found + len(mark)


def _comment_end(body: bytes, at: int) -> int:
    for short in (b"<!-->", b"<!--->"):
        if body.startswith(short, at):
            return at + len(short)
    end = _after(body, b"-->", at + 4)
    other = body.find(b"--!>", at + 4, end)
    return end if other < 0 else other + 4


def _raw_end(body: bytes, at: int, name: bytes) -> int:
    """Return where the text begins to be markup again: at the end tag of an element whose content is none."""
    if name == b"plaintext":
        raise _Unsure
    if name not in _RAW:
        return at
    end = _RAW[name].search(body, at)
    if end is None or (name == b"script" and _SCRIPT_IN_SCRIPT.search(body, at, end.start())):
        raise _Unsure
    return end.start()
