"""The fields that a request may ask for, chosen once for each catalog, operation and purpose."""

from functools import lru_cache
from typing import Any, NamedTuple

from app.catalog.entries import Catalog, Entry, hash_entries
from app.catalog.service import effective_catalog
from app.core.errors import Problem, Unprocessable
from app.core.wire.serialization import dumps
from app.enrichment.rules import is_usable
from app.enrichment.schemas import NewRequest
from app.enrichment.views import usable_entries

MAX_CACHED_SELECTIONS = 256
"""Of a process; each is kept under the content that it was made from, so it is never out of date."""


class Selection(NamedTuple):
    """The fields of a request, as it keeps them."""

    version: str
    entries: list[dict[str, Any]]
    """As agents see them; nobody changes them."""
    text: str
    """The same as JSON."""
    hash: str
    withheld_keys: list[str]
    """Fields that are not asked for, since they may not be used for this purpose."""


def select_fields(enabled_fields: str | None, new_request: NewRequest) -> Selection | None:
    """Return the fields that a request may ask for, None if there are none, or raise if it names one that it may not.

    `enabled_fields` is what the SQL fragment of that name has read.
    """
    field_keys = None if new_request.field_keys is None else tuple(new_request.field_keys)
    return _select(enabled_fields, new_request.operation, new_request.purpose, field_keys)


@lru_cache(MAX_CACHED_SELECTIONS)
def _select(
    enabled_fields: str | None, operation: str, purpose: str, field_keys: tuple[str, ...] | None
) -> Selection | None:
    effective = effective_catalog(enabled_fields)
    entries = _choose_entries(effective, operation, purpose, field_keys)
    if not entries:
        return None
    wire_entries = [entry.as_wire() for entry in entries]
    return Selection(
        version=effective.version,
        entries=wire_entries,
        text=dumps(wire_entries).decode(),
        hash=hash_entries(entries),
        withheld_keys=[
            entry.key for entry in effective.entries if not is_usable(entry.targeted_advertising_safe, purpose)
        ],
    )


def _choose_entries(
    effective: Catalog, operation: str, purpose: str, field_keys: tuple[str, ...] | None
) -> list[Entry]:
    usable = usable_entries(effective, operation, purpose)
    if field_keys is None:
        return usable
    usable_keys = [entry.key for entry in usable]
    entries = {entry.key: entry for entry in effective.entries}
    problems = []
    for index, key in enumerate(field_keys):
        code = _problem_code(entries.get(key), operation, purpose)
        if code:
            problems.append(Problem(f"/fieldKeys/{index}", code, _PROBLEMS[code], {"allowed": usable_keys}))
    if problems:
        raise Unprocessable(code=problems[0].code, problems=problems)
    return [entries[key] for key in sorted(field_keys)]


_PROBLEMS = {
    "unknown_field_key": "There is no such field in the effective catalog.",
    "field_not_bound": "This field is not bound to this operation.",
    "not_advertising_safe": "This field may not be used for targeted advertising.",
}


def _problem_code(entry: Entry | None, operation: str, purpose: str) -> str | None:
    if entry is None:
        return "unknown_field_key"
    if not entry.is_bound_to(operation):
        return "field_not_bound"
    return None if is_usable(entry.targeted_advertising_safe, purpose) else "not_advertising_safe"
