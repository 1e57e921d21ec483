"""Insert script elements into HTML where every parser reads them as such."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_SPACE = rb"[ \t\r\n\f]"
_NAME = re.compile(rb"/?[A-Za-z][^ \t\r\n\f/>]*")
_GAP = re.compile(rb"[ \t\r\n\f/]*")
# An attribute's name may begin with an equals sign but not contain one.
_ATTRIBUTE = re.compile(rb"([^ \t\r\n\f/>][^ \t\r\n\f/>=]*)(" + _SPACE + rb"*=" + _SPACE + rb"*)?")
_UNQUOTED = re.compile(rb"[^ \t\r\n\f>]*")
_RAW = {
    name: re.compile(rb"</" + name + rb"(?=[ \t\r\n\f/>])", re.IGNORECASE)
    for name in (b"script", b"style", b"textarea", b"title", b"xmp", b"iframe", b"noembed", b"noframes", b"noscript")
}
_LESS_THAN = "\\u003c"
_SCRIPT = re.compile(rb"<script", re.IGNORECASE)
_COMMENT_END = re.compile(rb"--!?>")


class _Tag(NamedTuple):
    """A tag: its offset, its lower-cased name with `/` before that of an end tag, and the element's id."""

    start: int
    name: bytes
    id: bytes | None


class _AmbiguousMarkup(Exception):
    """The markup ends within a tag, comment or raw text, or parsers differ over it."""


class Page(NamedTuple):
    """What the insertion of a script depends on."""

    offset: int
    """Where scripts go: before `</head>`, else before `</body>`, else at the end."""
    ids: frozenset[bytes]
    """The ids of all elements."""


def read_page(body: bytes) -> Page | None:
    """Return the page of an HTML body, or None where the markup is ambiguous."""
    if not body.strip() or b"\0" in body[:4] or body[:2] in (b"\xfe\xff", b"\xff\xfe"):
        return None
    head_end = body_end = None
    ids: set[bytes] = set()
    try:
        for tag in _tags(body):
            if tag.name == b"/head" and head_end is None:
                head_end = tag.start
            elif tag.name == b"/body":
                body_end = tag.start
            elif tag.id is not None:
                ids.add(tag.id)
    except _AmbiguousMarkup:
        return None
    offset = next((offset for offset in (head_end, body_end) if offset is not None), len(body))
    return Page(offset, frozenset(ids))


def insert_scripts(body: bytes, offset: int, scripts: Mapping[str, str]) -> bytes:
    """Return the body with script elements at an offset, by their ids; their contents are JSON."""
    elements = "".join(
        f'<script id="{element_id}" type="application/json">{text.replace("<", _LESS_THAN)}</script>'
        for element_id, text in scripts.items()
    )
    return body[:offset] + elements.encode() + body[offset:]


def _tags(body: bytes) -> Iterator[_Tag]:
    position = body.find(b"<")
    while position >= 0:
        name = _NAME.match(body, position + 1)
        if name:
            word = name[0].lower()
            end, element_id = _read_tag(body, name.end())
            yield _Tag(position, word, element_id)
            position = _raw_end(body, end, word)
        elif body.startswith(b"<!--", position):
            position = _comment_end(body, position)
        elif body.startswith(b"<![CDATA[", position):
            raise _AmbiguousMarkup
        elif body[position + 1 : position + 2] in (b"!", b"?", b"/"):
            position = _end_of(body, b">", position)
        else:
            position += 1
        position = body.find(b"<", position)


def _read_tag(body: bytes, position: int) -> tuple[int, bytes | None]:
    """Return the offset after a tag, and the id attribute if it has one."""
    element_id = None
    while True:
        gap = _GAP.match(body, position)
        position = gap.end() if gap else position
        if body[position : position + 1] == b">":
            return position + 1, element_id
        attribute = _ATTRIBUTE.match(body, position)
        if attribute is None:
            raise _AmbiguousMarkup
        position = attribute.end()
        if attribute[2] is not None:
            value, position = _read_value(body, position)
            if attribute[1].lower() == b"id" and element_id is None:
                element_id = value


def _read_value(body: bytes, position: int) -> tuple[bytes, int]:
    quote = body[position : position + 1]
    if quote in (b'"', b"'"):
        end = _end_of(body, quote, position + 1)
        return body[position + 1 : end - 1], end
    value = _UNQUOTED.match(body, position)
    return (value[0], value.end()) if value else (b"", position)


def _end_of(body: bytes, delimiter: bytes, start: int) -> int:
    """Return the offset after the next delimiter."""
    offset = body.find(delimiter, start)
    if offset < 0:
        raise _AmbiguousMarkup
    return offset + len(delimiter)


def _comment_end(body: bytes, position: int) -> int:
    for empty_comment in (b"<!-->", b"<!--->"):
        if body.startswith(empty_comment, position):
            return position + len(empty_comment)
    end = _COMMENT_END.search(body, position + 4)
    if end is None:
        raise _AmbiguousMarkup
    return end.end()


def _raw_end(body: bytes, position: int, name: bytes) -> int:
    """Return the offset at which markup begins again: the end tag of an element with raw text."""
    if name == b"plaintext":
        raise _AmbiguousMarkup
    if name not in _RAW:
        return position
    end = _RAW[name].search(body, position)
    if end is None or (name == b"script" and _has_script_in_comment(body, position, end.start())):
        raise _AmbiguousMarkup
    return end.start()


def _has_script_in_comment(body: bytes, start: int, end: int) -> bool:
    """Tell whether a script's text has `<script` after `<!--`: its end tag then ends nothing in a browser."""
    comment = body.find(b"<!--", start, end)
    return comment >= 0 and _SCRIPT.search(body, comment, end) is not None
