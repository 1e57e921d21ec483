"""Looks through one text: a gate of cheap triggers, then only the rules whose trigger fired."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

import re2

from app.screening.personal import FINDERS
from app.screening.rules import (
    CREDENTIAL_NOUN,
    NEARBY,
    OBJECT_NOUN,
    OBJECT_PREFIXES,
    PLACEHOLDER,
    PLAIN_WORDS,
    RULES,
    WORD_PARTS,
    Rule,
)

SECRET = "secret_detected"
PERSONAL = "personal_data_detected"

_INVISIBLE = dict.fromkeys(
    [0x00AD, 0x034F, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), 0xFEFF]
)
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.I)
_HEX = re.compile(r"(?:0x)?[0-9a-f]+\Z", re.I)
_WORDS = re.compile(r"[a-z]+(?:[-_/.][a-z]+)*\Z", re.I)
_ENDING = ".,;:!?)]}>\"'`"


class Finding(NamedTuple):
    """What was found, without the text."""

    code: str
    rule: str


def _gate() -> "re2.Set":
    gate = re2.Set.SearchSet()
    for rule in RULES:
        gate.Add(rule.trigger)
    for _, trigger, _ in FINDERS:
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
                if any(_is_secret(rule, reading, match) for match in rule.pattern.finditer(reading)):
                    return Finding(SECRET, rule.id)
            else:
                name, _, find = FINDERS[index - len(RULES)]
                if next(find(reading), None) is not None:
                    return Finding(PERSONAL, name)
    return None


def _readings(text: str) -> Iterator[str]:
    """Return the text as a reader would see it, and once more with its percent signs decoded."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_INVISIBLE)
    yield text
    if "%" in text and (decoded := unquote(text, errors="replace")) != text:
        yield decoded


def _is_secret(rule: Rule, text: str, match: re.Match[str]) -> bool:
    groups = match.groupdict()
    value = (groups.get("value") or match[0]).rstrip(_ENDING)
    if "value" not in groups:
        return True
    if len(value) < rule.shortest or PLACEHOLDER.match(value) or _is_words(rule, value):
        return False
    if rule.needs_digit and not any(character.isdigit() for character in value):
        return False
    if _classes(value) < rule.least_classes or _entropy(value) < rule.least_entropy:
        return False
    before = text[max(0, match.start("value") - 40) : match.start("value")]
    if OBJECT_NOUN.search(before):
        return False
    return rule.is_named or _is_unnamed_secret(rule, text, match, value)


def _is_unnamed_secret(rule: Rule, text: str, match: re.Match[str], value: str) -> bool:
    """Judge a random token that nothing calls a credential directly."""
    if _UUID.match(value) or _HEX.match(value) or _entropy(value) < 3.0 or _is_path(value):
        return False
    if prefix := match.groupdict().get("prefix"):
        return prefix.lower() not in OBJECT_PREFIXES and _is_random(value)
    around = text[max(0, match.start("value") - NEARBY) : match.start("value")]
    after = text[match.end("value") : match.end("value") + NEARBY // 2]
    head = re.split(r"[_-]", value, maxsplit=1)[0].lower()
    is_near = CREDENTIAL_NOUN.search(around) or CREDENTIAL_NOUN.search(after)
    return bool(is_near) and head not in OBJECT_PREFIXES


def _is_words(rule: Rule, value: str) -> bool:
    """Tell English from a credential: plain words pass, unless the rule is about what must never be written out."""
    low = value.lower()
    if low in PLAIN_WORDS:
        return True
    if not _WORDS.match(value):
        return False
    parts = re.split(r"[-_/.]", low)
    if len(parts) == 1:
        # One run of letters: a word, unless its capitals are strewn about or the rule takes words.
        is_cased_like_word = value in (low, value.capitalize(), value.upper())
        return is_cased_like_word and not (rule.may_be_word and len(value) >= rule.shortest and rule.id != "labelled")
    return bool(WORD_PARTS.intersection(parts)) or rule.id in ("prose", "quoted", "labelled", "query_credential")


def _is_path(value: str) -> bool:
    return value.count("/") >= 2 or all(part.isalpha() for part in re.split(r"[-_/.]", value) if part)


def _is_random(value: str) -> bool:
    """Tell a random tail from joined words and dates: it has a long run that mixes letters and digits."""
    runs = re.split(r"[-_.]", value)
    longest = max(runs, key=len)
    changes = sum(a.isdigit() != b.isdigit() for a, b in pairwise(longest))
    return len(longest) >= 12 and (changes >= 3 or _classes(longest) >= 3)


def _classes(value: str) -> int:
    return sum(
        any(test(character) for character in value)
        for test in (str.islower, str.isupper, str.isdigit, lambda character: not character.isalnum())
    )


def _entropy(value: str) -> float:
    """Return Shannon's entropy in bits a character."""
    total = len(value)
    return -sum(count / total * math.log2(count / total) for count in Counter(value).values())
