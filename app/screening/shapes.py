"""How much a candidate looks like a secret rather than like something a person reads."""

import re
from enum import IntEnum
from itertools import pairwise

from app.screening.vocabulary import (
    CREDENTIAL_NAME,
    MASKED,
    PLACEHOLDER,
    PLAIN_WORDS,
    SPECIFICATION,
    TECHNICAL,
    WORD_PARTS,
)


class Looks(IntEnum):
    """What a candidate looks like, from the harmless to the certain."""

    NOTHING = 0
    """A placeholder, a common word, a description."""
    WORD = 1
    JOINED = 2
    """Words with hyphens, underscores or dots between them."""
    NAME = 3
    """Words and numbers, as in an identifier; or a password that a person chose."""
    MIXED = 4
    RANDOM = 5


_CHUNK = re.compile(r"[^\W_]+")
_CAMEL_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[^\W\d_A-Za-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)
_SYMBOL = re.compile(r"[!@#$%^&*?+=~|\\]")
_ENDING = ".,;:!?)]}>\"'`*”’»"

_LONG = 12
"""A chunk of this many characters that nobody can read is random by itself."""


def trim(value: str) -> str:
    """Return a candidate without the punctuation or the closing tag behind it."""
    return value.partition("</")[0].rstrip(_ENDING)


def look_at(value: str) -> Looks:
    """Judge a trimmed candidate."""
    low = value.lower()
    if not value or low in PLAIN_WORDS or _is_stand_in(value) or SPECIFICATION.match(value) or _URL.match(value):
        return Looks.NOTHING
    chunks = _CHUNK.findall(value)
    if _is_random(chunks):
        return Looks.RANDOM
    if any(not _is_plain(chunk) for chunk in chunks) or (_SYMBOL.search(value) and any(map(str.isdigit, value))):
        return Looks.MIXED
    if any(map(str.isdigit, value)):
        return Looks.NAME
    if len(chunks) == 1:
        return Looks.WORD
    return Looks.NOTHING if WORD_PARTS.intersection(low.replace("_", "-").split("-")) else Looks.JOINED


def _is_stand_in(value: str) -> bool:
    if PLACEHOLDER.match(value) or CREDENTIAL_NAME.match(value):
        return True
    # A few characters may be left to see beside the mask; a whole secret may not.
    return MASKED.search(value) is not None and len(MASKED.sub("", value)) <= _LONG


def _is_random(chunks: list[str]) -> bool:
    """Tell whether nobody could read these runs of letters and digits, in one long run or in several short ones."""
    unreadable = [chunk for chunk in chunks if _is_unreadable(chunk)]
    if any(len(chunk) >= _LONG for chunk in unreadable):
        return True
    if len(unreadable) >= 3 and sum(map(len, unreadable)) >= _LONG:
        return True
    # ABCD1-2EFGH-IJ3KL-MNOPQ: groups of one length, as they are printed on licenses.
    mixed = [chunk for chunk in chunks if not chunk.isalpha() and not chunk.isdigit()]
    return len(chunks) >= 4 and len(set(map(len, chunks))) == 1 and len(mixed) >= 2 and len(chunks[0]) >= 4


def _is_plain(chunk: str) -> bool:
    """Tell whether a run is a word, a number, or both as in `sha256`."""
    return chunk.isdigit() or TECHNICAL.match(chunk) is not None or (chunk.isalpha() and not _is_unreadable(chunk))


def _is_unreadable(chunk: str) -> bool:
    """Tell whether letters and digits alternate, or capitals are strewn about, as they are in no word."""
    if TECHNICAL.match(chunk) or len(chunk) < 4:
        return False
    if chunk.islower() and 10 * sum(map(str.isdigit, chunk)) < len(chunk):
        return False
    changes = sum(one.isdigit() != other.isdigit() for one, other in pairwise(chunk))
    if changes >= (3 if len(chunk) >= 8 else 2):
        return True
    letters = "".join(_LETTERS.findall(chunk))
    parts = _CAMEL_PART.findall(chunk)
    return len(letters) >= 8 and len(parts) >= 4 and len(letters) < 3 * len(parts)
