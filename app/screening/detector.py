"""Looks through one text: a gate of cheap triggers, then only the rules whose trigger fired."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

import re2

from app.screening.personal import FINDERS
from app.screening.rules import RULES, Rule
from app.screening.shapes import Looks, look_at, trim
from app.screening.vocabulary import CREDENTIAL_NOUN, LAST_WORD, OBJECTS

SECRET = "secret_detected"
PERSONAL = "personal_data_detected"

NEARBY = 40
"""How many characters before a random token a word can make it a credential; behind it, half as many."""

_INVISIBLE_RANGES = [(0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x2064), (0xFE00, 0xFE0F), (0xD800, 0xDFFF)]
_INVISIBLE = dict.fromkeys([0x00AD, 0x034F, 0x061C, 0x180E, 0xFEFF])
_INVISIBLE |= dict.fromkeys(code for first, last in _INVISIBLE_RANGES for code in range(first, last + 1))
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.I)
_HEX = re.compile(r"(?:0x)?[0-9a-f]+\Z", re.I)
_FILE_OR_HOST = re.compile(r"\.[a-z]{2,12}\Z")


class Finding(NamedTuple):
    """What was found, without the text."""

    code: str
    rule: str


def _gate() -> "re2.Set":
    gate = re2.Set.SearchSet()
    for trigger in [rule.trigger for rule in RULES] + [finder.trigger for finder in FINDERS]:
        gate.Add(trigger)
    gate.Compile()
    return gate


_GATE = _gate()


def find_private(text: str) -> Finding | None:
    """Return the first secret or personal data in a text."""
    for reading in _readings(text):
        for index in sorted(_GATE.Match(reading) or ()):
            if index < len(RULES):
                rule = RULES[index]
                if any(is_secret(rule, reading, match) for match in rule.pattern.finditer(reading)):
                    return Finding(SECRET, rule.id)
            else:
                finder = FINDERS[index - len(RULES)]
                if finder.finds(reading):
                    return Finding(PERSONAL, finder.id)
    return None


def _readings(text: str) -> Iterator[str]:
    """Return the text as a reader would see it, and once more with its percent signs decoded."""
    text = _plain(text)
    yield text
    if "%" in text and (decoded := unquote(text, errors="replace")) != text:
        yield _plain(decoded)


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text).translate(_INVISIBLE)


def is_secret(rule: Rule, text: str, match: re.Match[str]) -> bool:
    """Judge what a rule's pattern found."""
    groups = match.groupdict()
    if "value" not in groups:
        return True
    value = trim(groups["value"])
    if len(value) < rule.shortest or look_at(value) < rule.least:
        return False
    return rule.is_named or _is_unnamed_secret(text, match, value)


def _is_unnamed_secret(text: str, match: re.Match[str], value: str) -> bool:
    """Judge a random token that nothing calls a credential directly."""
    groups = match.groupdict()
    head = groups.get("prefix") or re.split(r"[_-]", value, maxsplit=1)[0]
    before = text[max(0, match.start() - NEARBY) : match.start()]
    if OBJECTS.intersection(re.split(r"[_-]", head.lower())) or _names_a_thing(before) or _FILE_OR_HOST.search(value):
        return False
    is_digest = _HEX.match(value) and groups.get("mark") != "_"
    if is_digest or look_at(trim(_UUID.sub("", value))) < Looks.RANDOM:
        return False
    return "prefix" in groups or _is_near_credential(before, text[match.end() : match.end() + NEARBY // 2])


def _names_a_thing(before: str) -> bool:
    word = LAST_WORD.search(before)
    return word is not None and word[1].lower() in OBJECTS


def _is_near_credential(before: str, after: str) -> bool:
    return bool(CREDENTIAL_NOUN.search(before) or CREDENTIAL_NOUN.search(after))
