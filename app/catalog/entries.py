"""Catalogs and their entries, and the built-in catalog, which is read from `config/catalog.toml`."""

import hashlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.catalog.rules import (
    CANONICAL_TYPES,
    KEY_PATTERN,
    MAX_LABEL_LENGTH,
    MAX_VALUE_LENGTH,
    MAX_VALUES,
    MIN_LABEL_LENGTH,
    VALUE_PATTERN,
    canonical_type,
)
from app.catalog.sensitive import SensitiveTerms, find_errors, read_terms
from app.core.wire.text import python_pattern

FILE = Path(__file__).resolve().parents[2] / "config" / "catalog.toml"

PRODUCT_VERSION = "product"
"""The version of a catalog that a product wrote itself; its hash tells one state of it from another."""

# Built-in values may be a band of numbers; a product's own need a letter or an underscore as well.
_KEY, _VALUE = re.compile(python_pattern(KEY_PATTERN)), re.compile(python_pattern(VALUE_PATTERN))


class BadCatalog(RuntimeError):
    """The catalog file has errors; the service must not start."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("config/catalog.toml: " + "; ".join(errors))


@dataclass(frozen=True, slots=True)
class Entry:
    """One field with its allowed values, as a request stores it."""

    key: str
    label: str
    type: str
    """The canonical class, which an answer submits."""
    allowed_values: tuple[str, ...]
    targeted_advertising_safe: bool
    question_type: str | None = None
    """The category as the product wrote it; a built-in field has none."""
    operations: tuple[str, ...] | None = None
    """In which operations it may be asked for; in all if None."""

    @property
    def authored_type(self) -> str:
        """The category that retrieved context reports."""
        return self.question_type or self.type

    def as_wire(self) -> dict[str, Any]:
        """Return the entry as agents and companies see it."""
        optional_members = {"questionType": self.question_type} if self.question_type else {}
        return {
            "key": self.key,
            "label": self.label,
            "type": self.type,
            **optional_members,
            "allowedValues": list(self.allowed_values),
            "targetedAdvertisingSafe": self.targeted_advertising_safe,
        }

    def is_bound_to(self, operation: str) -> bool:
        """Tell whether the field may be asked for in an operation."""
        return self.operations is None or operation in self.operations


@dataclass(frozen=True, slots=True)
class Catalog:
    """The effective catalog of a product."""

    version: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """The contents of the catalog file."""

    catalog: Catalog
    sensitive: SensitiveTerms


@cache
def catalog_file() -> CatalogFile:
    """Return the built-in catalog, or raise `BadCatalog` with everything that is wrong."""
    return read(tomllib.loads(FILE.read_text()))


def read(content: dict[str, Any]) -> CatalogFile:
    """Return the checked contents of a catalog file, or raise `BadCatalog`."""
    entries: list[dict[str, Any]] = content.get("entry", [])
    errors = [error for position, entry in enumerate(entries, 1) for error in _entry_errors(entry, position)]
    keys = [entry.get("key") for entry in entries]
    if len(set(map(str, keys))) < len(keys) or not keys:
        errors.append("every entry needs a key of its own")
    version, sensitive = content.get("version"), content.get("sensitive", {})
    if not isinstance(version, str) or version == PRODUCT_VERSION:
        errors.append("version is missing")
    errors += find_errors(sensitive)
    if errors:
        raise BadCatalog(errors)
    built_in_entries = [Entry(**{**entry, "allowed_values": tuple(entry["allowed_values"])}) for entry in entries]
    catalog = Catalog(str(version), tuple(sorted(built_in_entries, key=lambda entry: entry.key)))
    return CatalogFile(catalog, read_terms(sensitive))


def product_entry(key: str, label: str, authored_type: str, values: Sequence[str], **options: Any) -> Entry:
    """Return the entry of a product's own field."""
    return Entry(
        key=key,
        label=label,
        type=canonical_type(authored_type),
        question_type=authored_type,
        allowed_values=tuple(values),
        **options,
    )


def hash_entries(entries: Iterable[Entry]) -> str:
    """Return the hash of a catalog's content, in hex."""
    return hashlib.sha256(orjson.dumps([entry.as_wire() for entry in entries])).hexdigest()


def _entry_errors(entry: dict[str, Any], position: int) -> Iterable[str]:
    members = {"key", "label", "type", "targeted_advertising_safe", "allowed_values"}
    name, values = entry.get("key"), entry.get("allowed_values")
    if set(entry) != members:
        yield f"entry {position} must have exactly {', '.join(sorted(members))}"
        return
    if not isinstance(name, str) or not _KEY.match(name):
        yield f"entry {position} has no valid key"
    if not isinstance(entry["label"], str) or not MIN_LABEL_LENGTH <= len(entry["label"]) <= MAX_LABEL_LENGTH:
        yield f"entry {position} has no valid label"
    if entry["type"] not in CANONICAL_TYPES:
        yield f"entry {position} has no canonical type"
    if not isinstance(entry["targeted_advertising_safe"], bool):
        yield f"entry {position} must say whether it is safe for advertising"
    if not isinstance(values, list) or not 1 <= len(values) <= MAX_VALUES or len(set(map(str, values))) < len(values):
        yield f"entry {position} needs 1 to {MAX_VALUES} distinct values"
    elif not all(isinstance(value, str) and len(value) <= MAX_VALUE_LENGTH and _VALUE.match(value) for value in values):
        yield f"entry {position} has a value that is not lowercase snake_case"
