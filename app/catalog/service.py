"""Manage a product's own fields, and compute its effective catalog."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson
from sqlalchemy import func, select, text

from app.accounts.service import record_audit_entry
from app.catalog import entries
from app.catalog.entries import Catalog, Entry, catalog_file
from app.catalog.models import FieldDefinition
from app.catalog.rules import MAX_FIELDS, RESERVED_NAMESPACE
from app.catalog.schemas import NewField
from app.catalog.sensitive import find_sensitive
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Problem, Unprocessable
from app.interactions.rules import normalize_operation
from app.products.key_cache import CallerEnvironment
from app.screening.service import reject_private

_LOCK_FIELDS = text("SELECT pg_advisory_xact_lock(hashtext('enrichment_fields'), hashtext(:product_id))")

MAX_CACHED_CATALOGS = 256
"""Of a process; each is kept under its own content, so it is never out of date."""


class TooManyFields(Conflict):
    """The product has reached its maximum number of fields."""

    code = "too_many_fields"
    sentence = f"A product has at most {MAX_FIELDS} fields of its own; remove one first."


class UnknownField(NotFound):
    """The product has no field of its own under this key."""

    code = "unknown_field_key"
    sentence = "This product has no field of its own under this key."

    def __init__(self, keys: list[str]) -> None:
        super().__init__(problems=[Problem("/key", self.code, self.sentence, {"allowed": keys})])


@dataclass(frozen=True, slots=True)
class Fields:
    """A product's own fields, and whether the built-in ones apply."""

    fields_: Sequence[FieldDefinition]
    legacy_catalog_active: bool
    default_catalog: list[dict[str, Any]]


def put(environment: CallerEnvironment, key_id: str, key: str, new_field: NewField) -> FieldDefinition:
    """Create or replace a field; earlier requests keep their own copy."""
    _validate(key, new_field)
    _lock_fields(environment)
    field = session().get(FieldDefinition, (environment.product_id, key))
    now = clock.now()
    if field is None:
        _check_count(environment)
        field = FieldDefinition(product_id=environment.product_id, key=key, created_at=now)
        session().add(field)
    for name in ("label", "type", "allowed_values", "targeted_advertising_safe", "enabled"):
        setattr(field, name, getattr(new_field, name))
    field.operations = _normalize_operations(new_field.operations)
    field.updated_at = now
    record_audit_entry(
        environment.workspace_id, f"key {key_id}", "field.written", key, product=str(environment.product_id)
    )
    session().flush()
    return field


def delete(environment: CallerEnvironment, key_id: str, key: str) -> FieldDefinition:
    """Remove a field and return it."""
    _lock_fields(environment)
    field = session().get(FieldDefinition, (environment.product_id, key))
    if field is None:
        raise UnknownField([field.key for field in _product_fields(environment)])
    session().delete(field)
    record_audit_entry(
        environment.workspace_id, f"key {key_id}", "field.deleted", key, product=str(environment.product_id)
    )
    session().flush()
    return field


def list_all(environment: CallerEnvironment) -> Fields:
    """Return the fields of a product, by key."""
    fields = _product_fields(environment)
    return Fields(
        fields_=fields,
        legacy_catalog_active=not any(field.enabled for field in fields),
        default_catalog=[entry.as_wire() for entry in catalog_file().catalog.entries],
    )


@lru_cache(MAX_CACHED_CATALOGS)
def effective_catalog(enabled_fields: str | None) -> Catalog:
    """Return the fields that apply: the product's own as soon as one is enabled, else the built-in ones.

    `enabled_fields` is what the SQL fragment of that name has read.
    """
    if enabled_fields is None:
        return catalog_file().catalog
    return Catalog(entries.PRODUCT_VERSION, tuple(_entry(*members) for members in orjson.loads(enabled_fields)))


def _normalize_operations(operations: Sequence[str] | None) -> list[str] | None:
    """Return operations as requests store them, so that a field bound to `/orders/42` is bound to `/orders/:id`."""
    return None if operations is None else list(dict.fromkeys(map(normalize_operation, operations)))


def _product_fields(environment: CallerEnvironment) -> Sequence[FieldDefinition]:
    statement = select(FieldDefinition).where(FieldDefinition.product_id == environment.product_id)
    return session().scalars(statement.order_by(FieldDefinition.key).limit(MAX_FIELDS)).all()


def _entry(
    key: str, label: str, authored_type: str, values: list[str], is_advertising_safe: bool, operations: list[str] | None
) -> Entry:
    return entries.product_entry(
        key,
        label,
        authored_type,
        values,
        targeted_advertising_safe=is_advertising_safe,
        operations=tuple(operations) if operations else None,
    )


def _lock_fields(environment: CallerEnvironment) -> None:
    """Wait until no other transaction changes the fields of the product."""
    session().execute(_LOCK_FIELDS, {"product_id": str(environment.product_id)})


def _check_count(environment: CallerEnvironment) -> None:
    """Raise `TooManyFields` if the product has reached its maximum."""
    count = select(func.count()).where(FieldDefinition.product_id == environment.product_id)
    if session().execute(count).scalar_one() >= MAX_FIELDS:
        raise TooManyFields


def _validate(key: str, new_field: NewField) -> None:
    """Raise `Unprocessable` unless the field is allowed."""
    problems = []
    if key.partition(".")[0] == RESERVED_NAMESPACE:
        problems.append(Problem("/key", "reserved_namespace", "The namespace `service` is kept for built-in fields."))
    for pointer, values in (("/allowedValues", new_field.allowed_values), ("/operations", new_field.operations)):
        if values and len(set(values)) < len(values):
            problems.append(Problem(pointer, "distinct", "Each entry may be there once."))
    for pointer, texts in (
        ("/key", [key]),
        ("/label", [new_field.label]),
        ("/type", [new_field.type]),
        ("/allowedValues", new_field.allowed_values),
    ):
        if term := find_sensitive(texts, catalog_file().sensitive):
            message = f'This names something that must not be asked for: "{term}".'
            problems.append(Problem(pointer, "sensitive_category", message))
    if problems:
        raise Unprocessable(problems=problems)
    reject_private([("/label", new_field.label)])
