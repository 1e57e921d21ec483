"""Scan one text: a prefilter of cheap triggers, then only the rules whose trigger matched."""

from typing import NamedTuple

import re2

from app.screening import personal, shapes
from app.screening.candidates import is_random_token, is_secret
from app.screening.personal import DETECTORS, Detector
from app.screening.rules import RULES, Rule
from app.screening.text_forms import text_forms

SECRET = "secret_detected"
PERSONAL = "personal_data_detected"


class Finding(NamedTuple):
    """The code and the rule of a match, without the text."""

    code: str
    rule: str


class PrefilterFailed(RuntimeError):
    """The prefilter gave no usable result."""


_ROWS: tuple[Rule | Detector, ...] = (*RULES, *DETECTORS)
RULE_IDS = tuple(row.id for row in _ROWS)
_TRIGGERS = tuple(dict.fromkeys(row.trigger for row in _ROWS))
"""Each trigger once: rows that share one cost the prefilter nothing more."""
_ROWS_OF_TRIGGER = [[position for position, row in enumerate(_ROWS) if row.trigger == trigger] for trigger in _TRIGGERS]
_EVERY_TEXT_TRIGGER = len(_TRIGGERS)
"""The position of the empty pattern in the prefilter."""


def _compile_prefilter() -> "re2.Set":
    prefilter = re2.Set.SearchSet()
    for trigger in _TRIGGERS:
        prefilter.Add(trigger)
    # An RE2 set that runs out of memory answers as if nothing matched; the empty pattern always matches.
    prefilter.Add("")
    prefilter.Compile()
    return prefilter


_PREFILTER = _compile_prefilter()


def find_private(text: str) -> Finding | None:
    """Return the first secret or personal data in a text, or None; raise `PrefilterFailed` if it cannot be scanned."""
    for text_form in text_forms(text):
        for position in _triggered_rows(text_form):
            if finding := _apply(position, text_form):
                return finding
    return None


def find_secret(text: str) -> Finding | None:
    """Return the first secret in a text, or None; raise `PrefilterFailed` if it cannot be scanned."""
    for text_form in text_forms(text):
        for position in _triggered_rows(text_form):
            if position < len(RULES) and (finding := _apply(position, text_form)):
                return finding
    return None


def clear_caches() -> None:
    """Clear the caches of the scans: no part of a text outlives its request."""
    is_random_token.cache_clear()
    shapes.clear_caches()
    personal.clear_caches()


def _triggered_rows(text: str) -> list[int]:
    """Return the positions of the rows whose trigger matches, in their order."""
    matches = _PREFILTER.Match(text) or ()
    if _EVERY_TEXT_TRIGGER not in matches:
        raise PrefilterFailed
    return sorted(row for trigger in matches if trigger != _EVERY_TEXT_TRIGGER for row in _ROWS_OF_TRIGGER[trigger])


def _apply(position: int, text: str) -> Finding | None:
    row = _ROWS[position]
    if isinstance(row, Detector):
        return Finding(PERSONAL, row.id) if row.matches(text) else None
    is_met = any(is_secret(row, text, match) for match in row.pattern.finditer(text))
    return Finding(SECRET, row.id) if is_met else None
