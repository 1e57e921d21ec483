"""Setting up workspaces, products, environments and keys."""

import uuid
from datetime import timedelta

import click

from app.accounts import service as accounts
from app.cli.output import Duration, Row, command
from app.core.errors import ApiError
from app.products import service
from app.products.models import Environment, Key
from app.products.rules import KeyKind, Mode
from app.products.service import NewKey
from app.retention.erasure import erase_product

workspace = click.Group("workspace", help="Workspaces: one for each company.")
product = click.Group("product", help="Products of a workspace.")
environment = click.Group("environment", help="Environments of a product, such as production and staging.")
key = click.Group("key", help="Keys of an environment.")

_mode = click.option("--mode", type=click.Choice([str(mode) for mode in Mode]), help="How feedback is asked for.")
_days = click.IntRange(1, 365)
_retention = click.option("--retention-days", type=_days, help="How long interactions and reviews are kept.")
_evidence_retention = click.option("--evidence-retention-days", type=_days, help="How long evidence is kept.")


@command(workspace, "create")
@click.option("--email", required=True, help="The owner's address, for signing in.")
@click.option("--name", required=True)
def create_workspace(email: str, name: str) -> Row:
    """Create a workspace and its owner; prints the password once."""
    founded = accounts.found_workspace(email, name)
    return {"workspaceId": founded.id, "name": founded.name, "email": founded.email, "password": founded.password}


@command(workspace, "list")
def list_workspaces() -> list[Row]:
    """List workspaces, oldest first."""
    return [
        {"workspaceId": row.id, "name": row.name, "createdAt": row.created_at} for row in accounts.list_workspaces()
    ]


@command(product, "create")
@click.option("--workspace", "workspace_id", type=click.UUID, required=True)
@click.option("--name", required=True)
def create_product(workspace_id: uuid.UUID, name: str) -> Row:
    """Add a product to a workspace."""
    created = service.create_product(workspace_id, name)
    return {"productId": created.id, "workspaceId": workspace_id, "name": created.name}


@command(product, "list")
@click.option("--workspace", "workspace_id", type=click.UUID)
def list_products(workspace_id: uuid.UUID | None) -> list[Row]:
    """List products, oldest first."""
    return [
        {
            "productId": row.id,
            "workspaceId": row.workspace_id,
            "name": row.name,
            "createdAt": row.created_at,
        }
        for row in service.list_products(workspace_id)
    ]


@product.command("delete")
@click.argument("product_id", type=click.UUID)
@click.confirmation_option(prompt="Everything that belongs to this product will be gone. Go on?")
def delete_product(product_id: uuid.UUID) -> None:
    """Remove a product with all its environments, keys, interactions, feedback and decisions."""
    try:
        removed = erase_product(product_id)
    except ApiError as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"removed, with {removed} rows that belonged to it")


@command(environment, "create")
@click.option("--product", "product_id", type=click.UUID, required=True)
@click.option("--name", required=True)
@_mode
@_retention
@_evidence_retention
def create_environment(
    product_id: uuid.UUID,
    name: str,
    mode: str | None,
    retention_days: int | None,
    evidence_retention_days: int | None,
) -> Row:
    """Add an environment to a product."""
    created = service.create_environment(product_id, name)
    return _set(created.id, mode, retention_days, evidence_retention_days)


@command(environment, "list")
@click.option("--product", "product_id", type=click.UUID)
def list_environments(product_id: uuid.UUID | None) -> list[Row]:
    """List environments with their settings, oldest first."""
    return [_settings(row) for row in service.list_environments(product_id)]


@command(environment, "set")
@click.argument("environment_id", type=click.UUID)
@_mode
@_retention
@_evidence_retention
def set_environment(
    environment_id: uuid.UUID, mode: str | None, retention_days: int | None, evidence_retention_days: int | None
) -> Row:
    """Change the settings of an environment."""
    return _set(environment_id, mode, retention_days, evidence_retention_days)


@command(key, "create")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option("--kind", type=click.Choice([str(kind) for kind in KeyKind]), required=True)
@click.option("--right", type=click.Choice(["company"]), help="Let a product key open the company endpoints too.")
@click.option("--expires-in", type=Duration(), help="Such as 90s, 15m, 24h or 30d.")
def create_key(environment_id: uuid.UUID, kind: str, right: str | None, expires_in: timedelta | None) -> Row:
    """Make a key; it is printed once."""
    return _new(
        service.create_key(environment_id, KeyKind(kind), has_company_right=right is not None, expires_in=expires_in)
    )


@command(key, "list")
@click.option("--environment", "environment_id", type=click.UUID)
def list_keys(environment_id: uuid.UUID | None) -> list[Row]:
    """List keys, oldest first, without their texts."""
    return [_key(row) for row in service.list_keys(environment_id)]


@command(key, "revoke")
@click.argument("key_id")
def revoke_key(key_id: str) -> Row:
    """End a key at once."""
    return _key(service.revoke_key(key_id))


@command(key, "rotate")
@click.argument("key_id")
@click.option("--overlap-hours", type=click.IntRange(0, 168), required=True, help="How long the old key stays valid.")
def rotate_key(key_id: str, overlap_hours: int) -> Row:
    """Make the successor of a key; it is printed once.

    The successor of a key that expires expires when that key would have: rotation does not prolong it.
    """
    return _new(service.rotate_key(key_id, overlap_hours))


def _set(environment_id: uuid.UUID, mode: str | None, days: int | None, evidence_days: int | None) -> Row:
    changed: Environment = service.set_environment(
        environment_id,
        mode=Mode(mode) if mode else None,
        retention_days=days,
        evidence_retention_days=evidence_days,
    )
    return _settings(changed)


def _settings(row: Environment) -> Row:
    return {
        "environmentId": row.id,
        "productId": row.product_id,
        "name": row.name,
        "mode": row.mode,
        "retentionDays": row.retention_days,
        "evidenceRetentionDays": row.evidence_retention_days,
    }


def _new(row: NewKey) -> Row:
    return {"keyId": row.id, "kind": str(row.kind), "environmentId": row.environment_id, "key": row.text}


def _key(row: Key) -> Row:
    return {
        "keyId": row.id,
        "kind": row.kind,
        "environmentId": row.environment_id,
        "rights": ["company"] if row.has_company_right else [],
        "createdAt": row.created_at,
        "expiresAt": row.expires_at,
        "revokedAt": row.revoked_at,
        "lastUsedAt": row.last_used_at,
        "replaces": row.replaces_id,
    }
