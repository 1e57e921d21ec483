"""The routes of pages, and paths to them with the ids of a company."""

import itertools
import re
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Select, Table, select, text
from werkzeug.routing import Rule

from app.accounts.users import create_user, list_members
from app.blueprints import PAGE_MOUNTS
from app.core.database import session, transaction
from app.models import METADATA
from tests.dashboard.browser import fields, send
from tests.dashboard.question_pages import add
from tests.factories import sign_in
from tests.isolation.companies import Tenant, create_tenant, stored_rows

PUBLIC = {
    "playground": "has its own demo company",
    "docs": "files",
    "htmx": "a file",
    "dashboard": "the sign-in, and static files",
    "single_sign_on": "another way to sign in",
    "invitation": "a link for anybody",
    "gallery": "components",
}
PERSONAL = {mount.blueprint.name for mount in PAGE_MOUNTS if getattr(mount.blueprint, "is_personal", False)}
"""Their forms take any role."""

WORDS = {"kind": ("review", "report"), "purpose": ("product_personalization",), "file_format": ("csv", "ndjson")}
"""Arguments of paths that name no row, and their values."""

SEEN_AT = ("last_seen_at", "last_used_at")
"""Columns that looking at a page may change."""

Ids = Mapping[str, str]
"""Ids by the name of the argument that they are for."""


def create_filled_tenant(client: FlaskClient, field_key: str) -> tuple[Tenant, Ids]:
    """Create a company whose pages have something to show; its owner is signed in afterwards."""
    tenant = create_tenant(client, field_key)
    company = tenant.company
    with transaction():
        create_user(company.workspace_id, f"{field_key}@example.com", "member")
        user_id = list_members(company.workspace_id)[-1].user_id
    assert sign_in(client, company).status_code == 200
    assert send(client, "/team/invitations", email=f"guest@{field_key}", role="member").status_code == 200
    assert add(client, key=f"{field_key}_too").status_code == 303
    return tenant, {
        "interaction_id": tenant.interaction_id,
        "customer_id": _newest_id("customers", "product_id", company.product_id),
        "product_id": str(company.product_id),
        "environment_id": str(company.environment_id),
        "invitation_id": _newest_id("invitations", "workspace_id", company.workspace_id),
        "session_id": _newest_id("login_sessions", "workspace_id", company.workspace_id),
        "user_id": str(user_id),
        "key_id": company.product_key.split("_")[2],
        "key": field_key,
    }


def _newest_id(table: str, tenant_column: str, tenant_id: uuid.UUID) -> str:
    with transaction():
        statement = text(f"SELECT id FROM {table} WHERE {tenant_column} = :id ORDER BY created_at DESC LIMIT 1")
        return str(session().scalar(statement, {"id": tenant_id}))


def page_rules(app: Flask, method: str) -> list[Rule]:
    """Return the rules of all pages of a workspace, or of all its forms."""
    names = {mount.blueprint.name for mount in PAGE_MOUNTS} - PUBLIC.keys()
    rules = app.url_map.iter_rules()
    return [rule for rule in rules if rule.endpoint.partition(".")[0] in names and method in (rule.methods or ())]


def paths(rule: Rule, ids: Ids) -> Iterator[str]:
    """Return every path of a rule with these ids."""
    names = re.findall(r"<(?:[^<>]*:)?(\w+)>", rule.rule)
    for values in itertools.product(*(WORDS.get(name) or (ids[name],) for name in names)):
        path = rule.rule
        for value in values:
            path = re.sub(r"<[^>]*>", value, path, count=1)
        yield path


def token(client: FlaskClient) -> str:
    """Return the token of the forms of who is signed in."""
    return fields(client.get("/account"))["csrf_token"]


def is_about_a_row(rule: Rule) -> bool:
    """Tell whether the path of a rule has an id."""
    return bool(rule.arguments - WORDS.keys())


def all_ids(tenant: Tenant, ids: Ids) -> set[str]:
    """Return every id of a company that is a UUID, and those in its paths."""
    rows = itertools.chain.from_iterable(stored_rows(tenant).values())
    return {str(value) for row in rows for value in row if isinstance(value, uuid.UUID)} | set(ids.values())


def everything_stored() -> dict[str, list[str]]:
    """Return every row of every table, except when something was seen."""
    with transaction():
        return {
            table.name: sorted(str([_plain(value) for value in row]) for row in session().execute(_select(table)))
            for table in METADATA.sorted_tables
        }


def _select(table: Table) -> Select[Any]:
    return select(*(column for column in table.columns if column.name not in SEEN_AT))


def _plain(value: object) -> object:
    return bytes(value) if isinstance(value, memoryview) else value
