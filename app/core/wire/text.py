"""Normalization, visibility and patterns of the texts in bodies."""

import re
from unicodedata import category

# The White_Space property of Unicode; `str.split` also splits on U+001C to U+001F, which are control characters.
_WHITE_SPACE = re.compile(r"[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
# Letters and symbols that are rendered blank: Hangul fillers and the empty braille pattern.
_BLANK_CHARACTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def normalize(text: str) -> str:
    """Return the words of a text with one space between them."""
    return _WHITE_SPACE.sub(" ", text).strip(" ")


def has_control_character(text: str) -> bool:
    """Tell whether a text has a control character, such as a line break."""
    return _CONTROL.search(text) is not None


def is_visible(text: str) -> bool:
    """Tell whether a text has a letter, digit, punctuation mark or symbol that is not rendered blank."""
    return any(category(character)[0] in "LNPS" and character not in _BLANK_CHARACTERS for character in text)


def python_pattern(pattern: str) -> str:
    """Convert an ECMA-262 pattern to Python, where `$` would also match before a final line break."""
    return re.sub(r"\$$", r"\\Z", pattern)
