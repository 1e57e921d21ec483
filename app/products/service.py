"""Create, list and change products, environments and keys."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from app.accounts.models import Workspace
from app.accounts.rules import MAX_NAME_LENGTH
from app.accounts.service import COMMAND_LINE_ACTOR, record_audit_entry
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Unprocessable
from app.core.pepper import current_pepper
from app.core.wire.text import has_control_character, is_visible, normalize
from app.events import service as events
from app.events.rules import EventType
from app.products import keys
from app.products.key_cache import key_cache
from app.products.models import Environment, Key, Product
from app.products.rules import MAX_OVERLAP_HOURS, RETENTION_DAYS, KeyKind, Mode, write_instant

MAX_LIST_LENGTH = 1000


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key with its text, which is not stored."""

    id: str
    text: str
    kind: KeyKind
    environment_id: uuid.UUID


def create_product(workspace_id: uuid.UUID, name: str, actor: str = COMMAND_LINE_ACTOR) -> Product:
    """Add a product to a workspace."""
    if session().get(Workspace, workspace_id) is None:
        raise NotFound("There is no workspace with this id.")
    product = Product(id=uuid.uuid4(), workspace_id=workspace_id, name=_name(name), created_at=clock.now())
    session().add(product)
    record_audit_entry(workspace_id, actor, "product.created", str(product.id), name=product.name)
    session().flush()
    return product


def create_environment(product_id: uuid.UUID, name: str, actor: str = COMMAND_LINE_ACTOR) -> Environment:
    """Add an environment to a product."""
    product = get_product(product_id)
    environment = Environment(id=uuid.uuid4(), product_id=product_id, name=_name(name), created_at=clock.now())
    session().add(environment)
    record_audit_entry(product.workspace_id, actor, "environment.created", str(environment.id), name=environment.name)
    session().flush()
    return environment


def set_environment(
    environment_id: uuid.UUID,
    *,
    mode: Mode | None = None,
    retention_days: int | None = None,
    evidence_retention_days: int | None = None,
    actor: str = COMMAND_LINE_ACTOR,
) -> Environment:
    """Change those settings of an environment that are not None."""
    environment = get_environment(environment_id)
    changes = {
        name: value
        for name, value in (
            ("mode", mode),
            ("retention_days", retention_days),
            ("evidence_retention_days", evidence_retention_days),
        )
        if value is not None and value != getattr(environment, name)
    }
    previous = {name: getattr(environment, name) for name in changes}
    for name, value in changes.items():
        if name != "mode" and value not in RETENTION_DAYS:
            raise Unprocessable("Retention takes 1 to 365 days.")
        setattr(environment, name, value)
    if changes:
        details = {**changes, "previous": previous}
        record_audit_entry(_workspace_id(environment), actor, "environment.changed", str(environment_id), **details)
    session().flush()
    return environment


def rename_environment(environment_id: uuid.UUID, name: str, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Give an environment another name."""
    environment = get_environment(environment_id)
    _rename(environment, name, _workspace_id(environment), actor)


def rename_product(product_id: uuid.UUID, name: str, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Give a product another name, which agents are told within a second."""
    product = get_product(product_id)
    _rename(product, name, product.workspace_id, actor)


def _rename(row: Product | Environment, name: str, workspace_id: uuid.UUID, actor: str) -> None:
    previous, row.name = row.name, _name(name)
    if row.name != previous:
        action = "product.changed" if isinstance(row, Product) else "environment.changed"
        record_audit_entry(workspace_id, actor, action, str(row.id), name=row.name, previous={"name": previous})
    session().flush()


def get_product(product_id: uuid.UUID) -> Product:
    """Return a product."""
    product = session().get(Product, product_id)
    if product is None:
        raise NotFound("There is no product with this id.")
    return product


def delete_product(product_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Delete a product with its environments and keys; rows of other packages have to be gone."""
    product = get_product(product_id)
    record_audit_entry(product.workspace_id, actor, "product.deleted", str(product_id), name=product.name)
    session().delete(product)


def list_products(workspace_id: uuid.UUID | None = None) -> list[Product]:
    """Return the products of a workspace, or of all, oldest first."""
    statement = select(Product).order_by(Product.created_at, Product.id).limit(MAX_LIST_LENGTH)
    if workspace_id is not None:
        statement = statement.where(Product.workspace_id == workspace_id)
    return list(session().scalars(statement))


def list_environments(
    product_id: uuid.UUID | None = None, *, workspace_id: uuid.UUID | None = None
) -> list[Environment]:
    """Return the environments of a product, of a workspace, or of all, oldest first."""
    statement = select(Environment).order_by(Environment.created_at, Environment.id).limit(MAX_LIST_LENGTH)
    if product_id is not None:
        statement = statement.where(Environment.product_id == product_id)
    if workspace_id is not None:
        statement = statement.join(Product).where(Product.workspace_id == workspace_id)
    return list(session().scalars(statement))


def list_environment_ids(
    environment_id: uuid.UUID | None = None, *, product_id: uuid.UUID | None = None
) -> list[uuid.UUID]:
    """Return the ids of all environments, of a product's, or of the one, which must be there."""
    if environment_id is not None:
        return [get_environment(environment_id).id]
    statement = select(Environment.id)
    return list(
        session().scalars(statement if product_id is None else statement.where(Environment.product_id == product_id))
    )


def get_environment(environment_id: uuid.UUID) -> Environment:
    """Return an environment."""
    environment = session().get(Environment, environment_id)
    if environment is None:
        raise NotFound("There is no environment with this id.")
    return environment


def create_key(
    environment_id: uuid.UUID,
    kind: KeyKind,
    *,
    has_company_right: bool = False,
    expires_in: timedelta | None = None,
    actor: str = COMMAND_LINE_ACTOR,
) -> NewKey:
    """Create a key; its text is returned here and never again."""
    if has_company_right and kind is not KeyKind.PRODUCT:
        raise Unprocessable("Only a product key can be given the company right.")
    expires_at = clock.now() + expires_in if expires_in else None
    key = Key(environment_id=environment_id, kind=kind, has_company_right=has_company_right, expires_at=expires_at)
    return _add_key(key, actor, "key.created")


def _add_key(key: Key, actor: str, action: str, **details: Any) -> NewKey:
    """Generate the text of a key, store the key and record it."""
    environment, kind = get_environment(key.environment_id), KeyKind(key.kind)
    generated_key, pepper = keys.mint(kind, environment.id), current_pepper()
    key.id, key.created_at = generated_key.id, clock.now()
    key.digest, key.pepper_id = pepper.digest_key(generated_key.text), pepper.id
    details |= {"kind": kind, "expires_at": write_instant(key.expires_at)}
    if kind is KeyKind.PRODUCT:
        key.sealed_secret = key_cache().seal.encrypt(keys.signing_secret(generated_key.text))
        details["has_company_right"] = key.has_company_right
    session().add(key)
    record_audit_entry(_workspace_id(environment), actor, action, key.id, **details)
    session().flush()
    return NewKey(key.id, generated_key.text, kind, environment.id)


def list_keys(environment_id: uuid.UUID | None = None) -> list[Key]:
    """Return the keys of an environment, or of all, oldest first."""
    statement = select(Key).order_by(Key.created_at, Key.id).limit(MAX_LIST_LENGTH)
    if environment_id is not None:
        statement = statement.where(Key.environment_id == environment_id)
    return list(session().scalars(statement))


def get_key(key_id: str) -> Key:
    """Return a key."""
    key = session().get(Key, key_id)
    if key is None:
        raise NotFound("There is no key with this id.")
    return key


def revoke_key(key_id: str, actor: str = COMMAND_LINE_ACTOR) -> Key:
    """Revoke a key at once; within a second no process accepts it."""
    key = get_key(key_id)
    if key.revoked_at is None:
        key.revoked_at = clock.now()
        workspace_id = _workspace_id(get_environment(key.environment_id))
        record_audit_entry(workspace_id, actor, "key.revoked", key.id, kind=key.kind)
        events.queue(key.environment_id, EventType.KEY_REVOKED, {"keyId": key.id, "kind": key.kind})
    session().flush()
    return key


def revoke_keys(product_id: uuid.UUID, actor: str = COMMAND_LINE_ACTOR) -> None:
    """Revoke every key of a product."""
    environment_ids = list_environment_ids(product_id=product_id)
    for key_id in session().scalars(select(Key.id).where(Key.environment_id.in_(environment_ids))):
        revoke_key(key_id, actor)


def rotate_key(key_id: str, overlap_hours: int, actor: str = COMMAND_LINE_ACTOR) -> NewKey:
    """Create the successor of a key, and let the old key expire after the overlap.

    The successor of a key that expires expires at the instant that was set for the key: rotation renews the secret
    and does not prolong what was granted. A key with a valid successor is refused.
    """
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise Unprocessable(f"The overlap takes 0 to {MAX_OVERLAP_HOURS} hours.")
    # Locked, so that of two simultaneous rotations one sees the successor of the other.
    key, now = _lock_key(key_id), clock.now()
    if _has_ended(key):
        raise Unprocessable("This key has ended already; create a new one instead.")
    successors = _list_successors(key)
    for other in successors:
        if not _has_ended(other):
            raise Conflict(
                f"This key was rotated already, and its successor {other.id} is valid. Rotate that one; "
                "or, if its text is lost, revoke it and rotate this one again."
            )
    # A rotation shortens the expiry of the key that it replaces, so only the newest of them has what was granted.
    granted_until = successors[-1].expires_at if successors else key.expires_at
    overlap_ends_at = now + timedelta(hours=overlap_hours)
    previous = {"replaced_key_expires_at": write_instant(key.expires_at)}
    key.expires_at = min(overlap_ends_at, key.expires_at) if key.expires_at else overlap_ends_at
    successor = Key(
        environment_id=key.environment_id,
        kind=key.kind,
        has_company_right=key.has_company_right,
        replaces_id=key.id,
        expires_at=granted_until,
    )
    details = {"replaces": key.id, "replaced_key_expires_at": write_instant(key.expires_at), "previous": previous}
    return _add_key(successor, actor, "key.rotated", **details)


def _lock_key(key_id: str) -> Key:
    get_key(key_id)
    return session().get_one(Key, key_id, with_for_update=True, populate_existing=True)


def _has_ended(key: Key) -> bool:
    return key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= clock.now())


def _list_successors(key: Key) -> list[Key]:
    """Return the newest successor of a key, the newest of that one, and so on."""
    keys_of_chain = [key]
    while successor := session().scalar(
        select(Key).where(Key.replaces_id == keys_of_chain[-1].id).order_by(Key.created_at.desc()).limit(1)
    ):
        keys_of_chain.append(successor)
    return keys_of_chain[1:]


def _name(text: str) -> str:
    name = normalize(text)
    if not 1 <= len(name) <= MAX_NAME_LENGTH:
        raise Unprocessable(f"A name has 1 to {MAX_NAME_LENGTH} characters.")
    if has_control_character(name) or not is_visible(name):
        raise Unprocessable("A name has no control characters, and not only blank ones.")
    return name


def _workspace_id(environment: Environment) -> uuid.UUID:
    return session().scalars(select(Product.workspace_id).where(Product.id == environment.product_id)).one()
