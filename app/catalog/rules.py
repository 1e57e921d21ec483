"""What a field may be."""

import re
from collections.abc import Iterable

CANONICAL_TYPES = ("intent", "preference", "constraint", "interest")
FALLBACK_TYPE = "preference"

KEY_PATTERN = r"^[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,46}$"
RESERVED_NAMESPACE = "service"
TYPE_PATTERN = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
MAX_TYPE_LENGTH = 48
VALUE_PATTERN = r"^(?![0-9]+$)[a-z0-9]+(_[a-z0-9]+)*$"
"""Lowercase snake_case; a bare number is none."""
MAX_VALUE_LENGTH = 64
MAX_KEY_LENGTH = 79
MIN_LABEL_LENGTH = 3
MAX_LABEL_LENGTH = 120
MAX_VALUES = 32
MAX_OPERATIONS = 32
MAX_FIELDS = 64
"""Of one product."""

_WORDS = re.compile(r"[a-z]+")


def canonical_type(authored: str) -> str:
    """Return the class that an answer submits for a category that a product chose."""
    return authored if authored in CANONICAL_TYPES else FALLBACK_TYPE


def is_sensitive(texts: Iterable[str], words: frozenset[str], stems: tuple[str, ...]) -> bool:
    """Tell whether one of these texts names something that must not be asked for; a stem begins a word."""
    return any(word in words or word.startswith(stems) for text in texts for word in _WORDS.findall(text.lower()))
