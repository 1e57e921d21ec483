"""Shape classes: how much a candidate looks like a secret rather than like words that a person reads."""

import re
from enum import IntEnum
from functools import lru_cache
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


class Shape(IntEnum):
    """The shape class of a candidate; a higher one is more likely a secret."""

    HARMLESS = 0
    """A placeholder, a common word, a version, a date or an algorithm."""
    WORD = 1
    COMPOUND = 2
    """Words with hyphens, underscores or dots between them."""
    IDENTIFIER = 3
    """Words and digits, as in an identifier or in a password that a person chose."""
    MIXED = 4
    """A part that cannot be read, or a symbol beside digits."""
    RANDOM = 5
    """Long unreadable parts."""


MIN_RANDOM_LENGTH = 12
"""An unreadable chunk of this many characters is random by itself."""

MIN_LETTERS_FOR_PAIRS = 10
"""Below this many letters the share of rare pairs says too little."""

MIN_RARE_SHARE = 0.25
MIN_RARE_SHARE_LOWER = 0.35
"""Joined lowercase words have rare pairs where they meet."""

MAX_CACHED = 1024
"""A text is looked at in several readings and beside its neighbours, so its parts are judged several times."""

_CHUNK = re.compile(r"[^\W_]+")
_CAMEL_PART = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+|[A-Z]|[^\W\d_A-Za-z]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.I)
_SYMBOL = re.compile(r"[!@#$%^&*?+=~|\\]")
_ENDING = ".,;:!?)]}>\"'`*”’»"

# Half of all pairs of letters make up less than 5 % of the pairs in English technical prose.
_RARE_SECOND_LETTERS = {
    "a": "hjoqz",
    "b": "fghkmnpqtvwxz",
    "c": "gjnqvwxz",
    "d": "ghjknpqtvwxyz",
    "e": "hjz",
    "f": "bghjkmnpqvwxyz",
    "g": "bcdfjkpqvwxyz",
    "h": "bcdfghjklmnpqvwxyz",
    "i": "hijquwy",
    "j": "bcdfghijklmnpqrstvwxyz",
    "k": "bcdfghjklmpqrtuvwxyz",
    "l": "bghjknqrwxz",
    "m": "cfghjknqrtvwxyz",
    "n": "bhjmqwxz",
    "o": "hjqxyz",
    "p": "bdfgjmnqvwxz",
    "q": "abcdefghijkmnopqrstvwxyz",
    "r": "hjqwxz",
    "s": "bgjqvxz",
    "t": "bgjkqvxz",
    "u": "hjkoquvwxyz",
    "v": "bcdfghjklmnpqrstuvwxyz",
    "w": "bcdfgjklmpqtuvwxyz",
    "x": "abdfghjklmnoqrsuvwxyz",
    "y": "bcdfghijkoqruvwxyz",
    "z": "bcdfghjklmnopqrstuvwxyz",
}
_RARE_PAIR = re.compile("|".join(f"{first}(?=[{seconds}])" for first, seconds in _RARE_SECOND_LETTERS.items()), re.I)


def trim(value: str) -> str:
    """Return a candidate without the punctuation or the closing tag behind it."""
    return value.partition("</")[0].rstrip(_ENDING)


@lru_cache(MAX_CACHED)
def classify(value: str) -> Shape:
    """Return the shape class of a trimmed candidate."""
    lowercase_value = value.lower()
    if (
        not value
        or lowercase_value in PLAIN_WORDS
        or _is_placeholder(value)
        or SPECIFICATION.match(value)
        or _URL.match(value)
    ):
        return Shape.HARMLESS
    chunks = _CHUNK.findall(value)
    if _is_random(chunks):
        return Shape.RANDOM
    if any(not _is_plain(chunk) for chunk in chunks) or (_SYMBOL.search(value) and any(map(str.isdigit, value))):
        return Shape.MIXED
    if any(map(str.isdigit, value)):
        return Shape.IDENTIFIER
    if len(chunks) == 1:
        return Shape.WORD
    return Shape.HARMLESS if WORD_PARTS.intersection(lowercase_value.replace("_", "-").split("-")) else Shape.COMPOUND


def clear_caches() -> None:
    """Clear the caches of texts that were classified."""
    classify.cache_clear()
    is_unreadable.cache_clear()


def _is_placeholder(value: str) -> bool:
    if PLACEHOLDER.match(value) or CREDENTIAL_NAME.match(value):
        return True
    # A mask may leave a few characters of a secret visible, but not all of it.
    return MASKED.search(value) is not None and len(MASKED.sub("", value)) <= MIN_RANDOM_LENGTH


def _is_random(chunks: list[str]) -> bool:
    """Tell whether one long chunk or several short ones cannot be read."""
    unreadable_chunks = [chunk for chunk in chunks if is_unreadable(chunk)]
    if any(len(chunk) >= MIN_RANDOM_LENGTH for chunk in unreadable_chunks):
        return True
    if len(unreadable_chunks) >= 3 and sum(map(len, unreadable_chunks)) >= MIN_RANDOM_LENGTH:
        return True
    # ABCD1-2EFGH-IJ3KL-MNOPQ: groups of one length, as they are printed on licenses.
    mixed_chunks = [chunk for chunk in chunks if not chunk.isalpha() and not chunk.isdigit()]
    return len(chunks) >= 4 and len(set(map(len, chunks))) == 1 and len(mixed_chunks) >= 2 and len(chunks[0]) >= 4


def _is_plain(chunk: str) -> bool:
    """Tell whether a chunk is a word, a number, or both as in `sha256`."""
    return chunk.isdigit() or TECHNICAL.match(chunk) is not None or (chunk.isalpha() and not is_unreadable(chunk))


@lru_cache(MAX_CACHED)
def is_unreadable(chunk: str) -> bool:
    """Tell whether a chunk of letters and digits is no word: by its changes of kind, its capitals or its pairs."""
    if len(chunk) < 4 or TECHNICAL.match(chunk):
        return False
    letters = "".join(_LETTERS.findall(chunk))
    if len(letters) >= MIN_LETTERS_FOR_PAIRS and _has_rare_pairs(letters):
        return True
    if chunk.islower() and 10 * (len(chunk) - len(letters)) < len(chunk):
        return False
    changes = sum(first.isdigit() != second.isdigit() for first, second in pairwise(chunk))
    if changes >= (3 if len(chunk) >= 8 else 2):
        return True
    parts = _CAMEL_PART.findall(chunk)
    return len(letters) >= 8 and len(parts) >= 4 and len(letters) < 3 * len(parts)


def _has_rare_pairs(letters: str) -> bool:
    """Tell whether many pairs of letters are rare; of random letters it is half of them."""
    share = len(_RARE_PAIR.findall(letters)) / (len(letters) - 1)
    return share >= (MIN_RARE_SHARE_LOWER if letters.islower() else MIN_RARE_SHARE)
