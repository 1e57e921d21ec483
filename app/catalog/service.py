"""Manage a product's own fields, and compute its effective catalog."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

import orjson
from sqlalchemy import func, select, text

from app.accounts.service import record_audit_entry
from app.catalog import entries
from app.catalog.entries import Catalog, Entry, catalog_file
from app.catalog.models import FieldDefinition
from app.catalog.rules import MAX_FIELDS, RESERVED_NAMESPACE
from app.catalog.schemas import NewField
from app.catalog.sensitive import find_sensitive
from app.catalog.sql import enabled_fields
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Problem, Unprocessable
from app.core.wire.schemas import camel
from app.interactions.rules import normalize_operation
from app.screening.service import reject_private

MEMBERS = ("label", "type", "allowed_values", "targeted_advertising_safe", "enabled")
"""What is stored of a field as it was sent; its operations are normalized."""

_ENABLED_FIELDS = text(f"SELECT {enabled_fields('CAST(:product_id AS uuid)')}")

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


class FieldExists(Conflict):
    """The product has a field of its own under this key already."""

    code = "field_exists"
    sentence = "There is a question with this key already; open it to change it, or choose another key."

    def __init__(self) -> None:
        super().__init__(problems=[Problem("/key", self.code, self.sentence)])


class FieldChanged(Conflict):
    """Somebody else has changed the field since it was read."""

    code = "field_changed"
    sentence = "Somebody else has changed this question meanwhile. Open it again to see their change, and repeat yours."


@dataclass(frozen=True, slots=True)
class Fields:
    """A product's own fields, and whether the built-in ones apply."""

    fields_: Sequence[FieldDefinition]
    legacy_catalog_active: bool
    default_catalog: list[dict[str, Any]]


class Editor(NamedTuple):
    """Whose fields are changed, and by whom: a key or a user, as the audit log names them."""

    workspace_id: uuid.UUID
    product_id: uuid.UUID
    actor: str


def put(editor: Editor, key: str, new_field: NewField) -> FieldDefinition:
    """Create or replace a field; earlier requests keep their own copy."""
    _validate(key, new_field)
    _lock_fields(editor.product_id)
    return _store(editor, key, new_field, _find(editor.product_id, key))


def add(editor: Editor, key: str, new_field: NewField) -> FieldDefinition:
    """Create a field, or raise `FieldExists`."""
    _validate(key, new_field)
    _lock_fields(editor.product_id)
    if _find(editor.product_id, key) is not None:
        raise FieldExists
    return _store(editor, key, new_field, None)


def change(editor: Editor, key: str, new_field: NewField, version: datetime | None) -> FieldDefinition:
    """Replace a field that nobody else has changed since `version`, its `updated_at`, was read."""
    _validate(key, new_field)
    return _store(editor, key, new_field, _lock_version(editor.product_id, key, version))


def delete(editor: Editor, key: str) -> FieldDefinition:
    """Remove a field and return it."""
    _lock_fields(editor.product_id)
    return _delete(editor, get(editor.product_id, key))


def delete_version(editor: Editor, key: str, version: datetime | None) -> FieldDefinition:
    """Remove a field that nobody else has changed since `version`, its `updated_at`, was read, and return it."""
    return _delete(editor, _lock_version(editor.product_id, key, version))


def preview(editor: Editor, key: str, new_field: NewField) -> Catalog:
    """Return the catalog that would apply if a field were stored, or raise what `put` raises; nothing is stored."""
    with session().begin_nested() as savepoint:
        put(editor, key, new_field)
        catalog = get_catalog(editor.product_id)
        savepoint.rollback()
    return catalog


def get(product_id: uuid.UUID, key: str) -> FieldDefinition:
    """Return a field of a product's own, or raise `UnknownField`."""
    field = _find(product_id, key)
    if field is None:
        raise UnknownField([field.key for field in _product_fields(product_id)])
    return field


def list_all(product_id: uuid.UUID) -> Fields:
    """Return the fields of a product, by key."""
    fields = _product_fields(product_id)
    return Fields(
        fields_=fields,
        legacy_catalog_active=not any(field.enabled for field in fields),
        default_catalog=[entry.as_wire() for entry in catalog_file().catalog.entries],
    )


def get_catalog(product_id: uuid.UUID) -> Catalog:
    """Return the fields of a product that apply."""
    return effective_catalog(session().scalar(_ENABLED_FIELDS, {"product_id": product_id}))


@lru_cache(MAX_CACHED_CATALOGS)
def effective_catalog(fields: str | None) -> Catalog:
    """Return the fields that apply: the product's own as soon as one is enabled, else the built-in ones.

    `fields` is what the SQL fragment `enabled_fields` has read.
    """
    if fields is None:
        return catalog_file().catalog
    return Catalog(entries.PRODUCT_VERSION, tuple(_entry(*members) for members in orjson.loads(fields)))


def _normalize_operations(operations: Sequence[str] | None) -> list[str] | None:
    """Return operations as requests store them, so that a field bound to `/orders/42` is bound to `/orders/:id`."""
    return None if operations is None else list(dict.fromkeys(map(normalize_operation, operations)))


def _find(product_id: uuid.UUID, key: str) -> FieldDefinition | None:
    return session().get(FieldDefinition, (product_id, key), populate_existing=True)


def _product_fields(product_id: uuid.UUID) -> Sequence[FieldDefinition]:
    statement = select(FieldDefinition).where(FieldDefinition.product_id == product_id)
    return session().scalars(statement.order_by(FieldDefinition.key).limit(MAX_FIELDS)).all()


def _store(editor: Editor, key: str, new_field: NewField, field: FieldDefinition | None) -> FieldDefinition:
    """Write a field, whose row is None if it is new, while the fields of the product are locked."""
    now, before = clock.now(), _members(field)
    if field is None:
        _check_count(editor.product_id)
        field = FieldDefinition(product_id=editor.product_id, key=key, created_at=now)
        session().add(field)
    for name in MEMBERS:
        setattr(field, name, getattr(new_field, name))
    field.operations = _normalize_operations(new_field.operations)
    field.updated_at = now
    after = _members(field)
    changed_names = [name for name in after if name not in before or before[name] != after[name]]
    _record(
        editor,
        "field.written",
        key,
        before={name: before[name] for name in changed_names if name in before},
        after={name: after[name] for name in changed_names},
    )
    session().flush()
    return field


def _delete(editor: Editor, field: FieldDefinition) -> FieldDefinition:
    session().delete(field)
    _record(editor, "field.deleted", field.key, before=_members(field))
    session().flush()
    return field


def _members(field: FieldDefinition | None) -> dict[str, Any]:
    """Return what a company can change of a field, under its wire names."""
    return {} if field is None else {camel(name): getattr(field, name) for name in (*MEMBERS, "operations")}


def _record(editor: Editor, action: str, key: str, **details: Any) -> None:
    record_audit_entry(editor.workspace_id, editor.actor, action, key, product=str(editor.product_id), **details)


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


def _lock_fields(product_id: uuid.UUID) -> None:
    """Wait until no other transaction changes the fields of the product."""
    session().execute(_LOCK_FIELDS, {"product_id": str(product_id)})


def _lock_version(product_id: uuid.UUID, key: str, version: datetime | None) -> FieldDefinition:
    """Return a field, locked, or raise `UnknownField`, or `FieldChanged` unless it has this version."""
    _lock_fields(product_id)
    field = get(product_id, key)
    if field.updated_at != version:
        raise FieldChanged
    return field


def _check_count(product_id: uuid.UUID) -> None:
    """Raise `TooManyFields` if the product has reached its maximum."""
    count = select(func.count()).where(FieldDefinition.product_id == product_id)
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
