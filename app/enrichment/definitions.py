"""A product's own questions, and which catalog is in force."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select

from app.accounts.service import record_audit_entry
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Problem, Unprocessable
from app.enrichment import catalog
from app.enrichment.catalog import Catalog, Entry, built_in
from app.enrichment.models import FieldDefinition
from app.enrichment.rules import MAX_DEFINITIONS, RESERVED_NAMESPACE, is_sensitive
from app.enrichment.schemas import Definition
from app.products.key_cache import CallerEnvironment
from app.products.models import Product
from app.screening.service import refuse_private


class TooManyDefinitions(Conflict):
    """A catalog that nobody can answer."""

    code = "too_many_fields"
    sentence = f"A product has at most {MAX_DEFINITIONS} questions of its own; remove one first."


class UnknownField(NotFound):
    """The product has no field of its own under this key."""

    code = "unknown_field_key"
    sentence = "This product has no field of its own under this key."

    def __init__(self, keys: list[str]) -> None:
        super().__init__(problems=[Problem("/key", self.code, self.sentence, {"allowed": keys})])


@dataclass(frozen=True, slots=True)
class Definitions:
    """A product's own questions, and whether the built-in ones still count."""

    fields_: Sequence[FieldDefinition]
    legacy_catalog_active: bool
    default_catalog: list[dict[str, Any]]


def put(environment: CallerEnvironment, key_id: str, key: str, definition: Definition) -> FieldDefinition:
    """Create or replace a question; requests that were made before keep their own copy."""
    _check(key, definition)
    _write_alone(environment)
    found = session().get(FieldDefinition, (environment.product_id, key))
    now = clock.now()
    if found is None:
        _leave_room(environment)
        found = FieldDefinition(product_id=environment.product_id, key=key, created_at=now)
        session().add(found)
    for name in ("label", "type", "allowed_values", "targeted_advertising_safe", "operations", "enabled"):
        setattr(found, name, getattr(definition, name))
    found.updated_at = now
    record_audit_entry(
        environment.workspace_id, f"key {key_id}", "field.written", key, product=str(environment.product_id)
    )
    session().flush()
    return found


def delete(environment: CallerEnvironment, key_id: str, key: str) -> FieldDefinition:
    """Remove a question and return it as it was."""
    _write_alone(environment)
    field = session().get(FieldDefinition, (environment.product_id, key))
    if field is None:
        raise UnknownField([field.key for field in _own(environment)])
    session().delete(field)
    record_audit_entry(
        environment.workspace_id, f"key {key_id}", "field.deleted", key, product=str(environment.product_id)
    )
    session().flush()
    return field


def list_all(environment: CallerEnvironment) -> Definitions:
    """Return the questions of a product, by key."""
    found = _own(environment)
    return Definitions(
        fields_=found,
        legacy_catalog_active=not any(definition.enabled for definition in found),
        default_catalog=[entry.as_wire() for entry in built_in().catalog.entries],
    )


def effective_catalog(environment: CallerEnvironment) -> Catalog:
    """Return the questions in force: the product's own as soon as one is enabled, else the built-in ones."""
    own = tuple(_entry(definition) for definition in _own(environment) if definition.enabled)
    return Catalog(catalog.PRODUCT_VERSION, own) if own else built_in().catalog


def _own(environment: CallerEnvironment) -> Sequence[FieldDefinition]:
    found = select(FieldDefinition).where(FieldDefinition.product_id == environment.product_id)
    return session().scalars(found.order_by(FieldDefinition.key).limit(MAX_DEFINITIONS)).all()


def _entry(definition: FieldDefinition) -> Entry:
    return catalog.of_product(
        definition.key,
        definition.label,
        definition.type,
        definition.allowed_values,
        targeted_advertising_safe=definition.targeted_advertising_safe,
        operations=tuple(definition.operations) if definition.operations else None,
    )


def _write_alone(environment: CallerEnvironment) -> None:
    """Wait until nobody else changes the questions of the product."""
    session().get(Product, environment.product_id, with_for_update={"key_share": True})


def _leave_room(environment: CallerEnvironment) -> None:
    count = select(func.count()).where(FieldDefinition.product_id == environment.product_id)
    if session().execute(count).scalar_one() >= MAX_DEFINITIONS:
        raise TooManyDefinitions


def _check(key: str, definition: Definition) -> None:
    """Raise unless this may be asked."""
    problems = []
    if key.partition(".")[0] == RESERVED_NAMESPACE:
        problems.append(Problem("/key", "reserved_namespace", "The namespace `service` is kept for built-in fields."))
    for pointer, values in (("/allowedValues", definition.allowed_values), ("/operations", definition.operations)):
        if values and len(set(values)) < len(values):
            problems.append(Problem(pointer, "distinct", "Each entry may be there once."))
    for pointer, texts in (
        ("/key", [key]),
        ("/label", [definition.label]),
        ("/type", [definition.type]),
        ("/allowedValues", definition.allowed_values),
    ):
        if is_sensitive(texts, built_in().sensitive_words, built_in().sensitive_stems):
            problems.append(Problem(pointer, "sensitive_category", "This names something that must not be asked."))
    if problems:
        raise Unprocessable(problems=problems)
    refuse_private([("/label", definition.label)])
