"""Texts that would run in a page that forgot to escape them, in every column that an agent or a company can fill.

They are written into the database, past the patterns that most fields have: a page relies on none of them.
"""

import re
from contextlib import closing

import psycopg2
import requests

from app.models import METADATA
from tests.context_api import PERSONALIZATION
from tests.factories import bearer
from tests.journeys.stack import Stack

SCRIPT = "window.isHacked=1"
PAYLOADS = (
    f"\"'><img src=x onerror={SCRIPT}>",
    f"</title></textarea><script>{SCRIPT}</script>",
    f"'\"><svg onload={SCRIPT}>{{{{7*7}}}}",
)
"""None is longer than what a filter takes, since filters are links."""

COLUMNS = {
    "workspaces": ("name",),
    "products": ("name",),
    "environments": ("name",),
    "interactions": ("operation", "session_ref", "customer_ref", "runtime_hint"),
    "sessions": ("ref", "customer_ref"),
    "interaction_days": ("operation",),
    "reviews": ("note",),
    "reports": ("summary",),
    "triage_comments": ("text",),
    "enrichment_fields": ("label", "type"),
    "enrichment_requests": ("operation",),
    "field_days": ("key",),
    "signals": ("key", "value"),
    "consent_decisions": ("question",),
    "personalization_decisions": ("external_id", "variant"),
    "evidence_events": ("source_provider",),
    "evidence_days": ("source_provider",),
    "invitations": ("email",),
    "users": ("email",),
    "login_sessions": ("browser", "network"),
    "audit_entries": ("actor", "subject"),
}
"""Those that pages show."""

SAME = {"sessions.ref": "interactions.session_ref", "sessions.customer_ref": "interactions.customer_ref"}
SAME |= dict.fromkeys(("interaction_days.operation", "enrichment_requests.operation"), "interactions.operation")
SAME |= {"evidence_days.source_provider": "evidence_events.source_provider"}
"""Columns whose rows name rows of other tables."""

JSON_COLUMNS = {
    "reports.findings": "jsonb_build_array(jsonb_build_object('kind', 'gap', 'topic', %(reports.topic)s,"
    " 'detail', %(reports.detail)s))",
    "reports.workaround": "jsonb_build_object('used', true, 'detail', %(reports.workaround)s)",
    "signals.summary": "%(signals.summary)s",
    "audit_entries.details": "jsonb_build_object(%(audit_entries.name)s, %(audit_entries.value)s,"
    " 'previous', %(audit_entries.previous)s)",
    "enrichment_fields.allowed_values": "ARRAY[%(enrichment_fields.value)s]",
    "enrichment_fields.operations": "ARRAY[%(enrichment_fields.operation)s]",
    "enrichment_requests.catalog": "jsonb_build_array(jsonb_build_object('key', %(enrichment_requests.key)s,"
    " 'label', 'A label', 'type', 'preference', 'allowedValues', '[]'::jsonb))",
}
JSON_NAMES = set(re.findall(r"%\(([\w.]+)\)s", " ".join(JSON_COLUMNS.values())))

COMMENTS = """
    INSERT INTO triage_comments (environment_id, feedback_id, feedback_at, author_id, text, created_at)
    SELECT environment_id, id, created_at, gen_random_uuid(), 'comment', created_at FROM {} WHERE {}
"""
FIELD_USE = """
    INSERT INTO field_days (environment_id, day_on, key, purpose, asked, answered)
    SELECT environment_id, current_date, 'key', 'product_personalization', 1, 0 FROM reviews WHERE {} LIMIT 1
    ON CONFLICT DO NOTHING
"""
INVITATION = """
    INSERT INTO invitations (workspace_id, id, digest, email, role, created_by, created_at, expires_at)
    SELECT workspace_id, gen_random_uuid(), '', 'email', 'member', user_id, now(), now() + interval '1 day'
    FROM memberships WHERE workspace_id = %(workspace)s LIMIT 1
"""
PRODUCTS = "SELECT id FROM products WHERE workspace_id = %(workspace)s"
ENVIRONMENTS = f"SELECT id FROM environments WHERE product_id IN ({PRODUCTS})"
REVIEWED_REQUESTS = "enrichment_requests JOIN reviews USING (environment_id, interaction_id)"
PAGES = (
    ("/questions?environment={0}", "signals JOIN enrichment_fields USING (product_id)", "environment_id"),
    ("/questions?environment={0}", "field_days", "environment_id"),
    ("/customers/{1}?environment={0}", "signals", "customer_id"),
    ("/ai-traffic?environment={0}", "evidence_days", "environment_id"),
    ("/feedback/report/{1}?environment={0}", "reports", "interaction_id"),
    ("/interactions/{1}?environment={0}", "consent_decisions", "interaction_id"),
    ("/feedback/review/{1}?environment={0}", REVIEWED_REQUESTS, "interaction_id"),
)
"""Paths with an environment and another id, and where these are found."""

TENANTS = {
    "workspace_id": "workspace_id = %(workspace)s",
    "product_id": f"product_id IN ({PRODUCTS})",
    "environment_id": f"environment_id IN ({ENVIRONMENTS})",
}
OTHERS = {
    "workspaces": "id = %(workspace)s",
    "users": "id IN (SELECT user_id FROM memberships WHERE workspace_id = %(workspace)s)",
}


def hostile_text(name: str) -> str:
    """Return the text of a column, which begins as a formula of a spreadsheet does."""
    name = SAME.get(name, name)
    # Pages write spaces for the underscores of wire values.
    return f"={name.replace('_', '-')}{PAYLOADS[sum(map(ord, name)) % len(PAYLOADS)]}"


def hostile_names() -> set[str]:
    """Return the name of every text that is written."""
    names = {f"{table}.{column}" for table, columns in COLUMNS.items() for column in columns}
    return {SAME.get(name, name) for name in names} | JSON_NAMES


def ask_for_context(stack: Stack, workspace_id: str) -> None:
    """Ask for context in an interaction that has a review: requests are kept for two hours, so there may be none."""
    (environment_id, interaction_id), *_ = _rows(stack, "environment_id, interaction_id", "reviews", workspace_id)
    key = stack.flask("key", "create", "--environment", environment_id, "--kind", "company")["key"]
    body = {"interactionId": interaction_id, "operation": "/orders", "surface": "http_json", "purpose": PERSONALIZATION}
    url = f"{stack.url}/api/v2/enrichment/requests"
    response = requests.post(url, json={**body, "remember": False}, headers=bearer(key), timeout=10)
    assert response.status_code == 200, response.text


def make_hostile(stack: Stack, workspace_id: str) -> None:
    """Put a hostile text in front of every text of a workspace."""
    with closing(psycopg2.connect(stack.database_url)) as connection, connection, connection.cursor() as cursor:
        parameters = {"workspace": workspace_id} | {name: hostile_text(name) for name in JSON_NAMES}
        for table in ("reviews", "reports"):
            cursor.execute(COMMENTS.format(table, TENANTS["environment_id"]), parameters)
        cursor.execute(FIELD_USE.format(TENANTS["environment_id"]), parameters)
        cursor.execute(INVITATION, parameters)
        for name, value in JSON_COLUMNS.items():
            table, _, column = name.partition(".")
            cursor.execute(f"UPDATE {table} SET {column} = {value} WHERE {_tenant(table)}", parameters)
        for table, columns in COLUMNS.items():
            for column in columns:
                text = {"text": hostile_text(f"{table}.{column}")}
                condition = f"{column} <> '' AND {_tenant(table)}"
                cursor.execute(
                    f"UPDATE {table} SET {column} = %(text)s || {column} WHERE {condition}", parameters | text
                )


def list_pages(stack: Stack, workspace_id: str) -> list[str]:
    """Return the paths of pages that show texts which those of the first environment do not."""
    paths = []
    for path, table, column in PAGES:
        paths += [path.format(*row) for row in _rows(stack, f"environment_id, {column}", table, workspace_id)]
    return paths


def _rows(stack: Stack, columns: str, table: str, workspace_id: str) -> list[tuple[str, ...]]:
    """Return one row of a workspace, if there is any."""
    condition = TENANTS["environment_id"].replace("%(workspace)s", "%s")
    return stack.query(f"SELECT {columns} FROM {table} WHERE {condition} LIMIT 1", workspace_id)


def _tenant(table: str) -> str:
    """Return the condition that the rows of a table are the workspace's."""
    names = METADATA.tables[table].columns
    return OTHERS.get(table) or next(condition for name, condition in TENANTS.items() if name in names)
