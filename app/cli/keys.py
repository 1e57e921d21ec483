"""`flask key`: create, list, revoke and rotate keys."""

import uuid
from datetime import timedelta

import click

from app.cli.output import Duration, Row, command
from app.products import service
from app.products.models import Key
from app.products.rules import MAX_OVERLAP_HOURS, KeyKind
from app.products.service import NewKey

group = click.Group("key")


@command(group, "create")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option("--kind", type=click.Choice([str(kind) for kind in KeyKind]), required=True)
@click.option("--right", type=click.Choice(["company"]), help="Let a product key call the company endpoints too.")
@click.option("--expires-in", type=Duration(), help="Such as 90s, 15m, 24h or 30d.")
def create(environment_id: uuid.UUID, kind: str, right: str | None, expires_in: timedelta | None) -> Row:
    """Create a key. It is printed once."""
    return _new_key_row(
        service.create_key(environment_id, KeyKind(kind), has_company_right=right is not None, expires_in=expires_in)
    )


@command(group, "list")
@click.option("--environment", "environment_id", type=click.UUID)
def list_keys(environment_id: uuid.UUID | None) -> list[Row]:
    """List keys, oldest first, without their texts."""
    return [_key_row(key) for key in service.list_keys(environment_id)]


@command(group, "revoke")
@click.argument("key_id")
def revoke(key_id: str) -> Row:
    """Revoke a key at once."""
    return _key_row(service.revoke_key(key_id))


@command(group, "rotate")
@click.argument("key_id")
@click.option(
    "--overlap-hours",
    type=click.IntRange(0, MAX_OVERLAP_HOURS),
    required=True,
    help="How many hours the old key stays valid.",
)
def rotate(key_id: str, overlap_hours: int) -> Row:
    """Create the successor of a key. It is printed once."""
    return _new_key_row(service.rotate_key(key_id, overlap_hours))


def _new_key_row(key: NewKey) -> Row:
    return {"keyId": key.id, "kind": str(key.kind), "environmentId": key.environment_id, "key": key.text}


def _key_row(key: Key) -> Row:
    return {
        "keyId": key.id,
        "kind": key.kind,
        "environmentId": key.environment_id,
        "rights": ["company"] if key.has_company_right else [],
        "createdAt": key.created_at,
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
        "lastUsedAt": key.last_used_at,
        "replaces": key.replaces_id,
        "pepperId": key.pepper_id.hex() if key.pepper_id else None,
    }
