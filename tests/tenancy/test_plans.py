"""Whether a statement reads a tenant table without its tenant is told from its plan."""

import re
import uuid
from collections.abc import Iterator
from contextlib import closing

import psycopg2
import psycopg2.extensions
import pytest
from flask import Flask
from sqlalchemy import text

from app.core.database import session, transaction
from app.interactions.service import find_interaction
from app.models import METADATA
from app.outcomes.service import FIND_REVIEW
from config.settings import Settings
from tests.conftest import ROOT
from tests.tenancy.plans import conjuncts, explain, tables_without_tenant
from tests.tenancy.recorder import TENANT_COLUMNS, Statement, recording
from tests.tenancy.statements import ACROSS_TENANTS, OF_TWO_TENANTS, require_tenants


@pytest.fixture(scope="module")
def cursor(migrated_app: Flask, settings: Settings) -> Iterator[psycopg2.extensions.cursor]:
    url = settings.database_url.replace("+psycopg2", "")
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        yield cursor


WITH_TENANT = (
    "SELECT FROM reviews WHERE environment_id = $1",
    "SELECT FROM reviews WHERE environment_id = ANY($1) AND outcome = 'success'",
    "SELECT FROM reviews r JOIN interactions i USING (environment_id) WHERE r.environment_id = $1",
    "SELECT FROM reviews r LEFT JOIN interactions i ON i.environment_id = r.environment_id AND i.id = r.interaction_id"
    " WHERE r.environment_id = $1 AND (r.outcome = 'success' OR r.note = $2)",
    "SELECT FROM reviews WHERE environment_id IN (SELECT id FROM environments WHERE product_id = $1)",
    "SELECT FROM reviews r JOIN environments e ON e.id = r.environment_id JOIN products p ON p.id = e.product_id"
    " WHERE p.workspace_id = $1",
    "SELECT FROM reviews r JOIN unnest($1::uuid[]) AS t (id) ON t.id = r.environment_id",
    "DELETE FROM reviews WHERE environment_id = $1 AND interaction_id IN"
    " (SELECT interaction_id FROM reviews WHERE environment_id = $1 ORDER BY created_at LIMIT 10)",
    "WITH due AS MATERIALIZED (SELECT environment_id, id FROM interactions WHERE environment_id = $1 LIMIT 5)"
    " DELETE FROM interactions i USING due WHERE i.environment_id = due.environment_id AND i.id = due.id",
    "INSERT INTO uncounted_days (environment_id, day_on) SELECT $1, current_date",
    "SELECT FROM environments",
)

WITHOUT_TENANT = (
    "SELECT FROM reviews",
    "SELECT FROM reviews WHERE interaction_id = $1",
    "SELECT FROM reviews WHERE environment_id = $1 OR interaction_id = $2",
    "SELECT FROM reviews WHERE environment_id <> $1",
    "SELECT FROM reviews r JOIN interactions i USING (environment_id) WHERE r.outcome = $1",
    "SELECT FROM reviews r JOIN environments e ON e.id = r.environment_id",
    "SELECT FROM reviews WHERE environment_id IN (SELECT id FROM environments)",
    "SELECT (SELECT count(*) FROM reviews r WHERE r.interaction_id = e.id) FROM environments e WHERE e.id = $1",
    "UPDATE reviews SET note = '' WHERE interaction_id = $1",
    "WITH due AS MATERIALIZED (SELECT environment_id, interaction_id FROM reviews LIMIT 5)"
    " DELETE FROM reviews r USING due WHERE r.environment_id = due.environment_id"
    " AND r.interaction_id = due.interaction_id",
    "SELECT FROM signals WHERE environment_id = $1",
)


@pytest.mark.parametrize("sql", WITH_TENANT)
def test_a_statement_with_its_tenant(cursor: psycopg2.extensions.cursor, sql: str) -> None:
    assert tables_without_tenant(explain(cursor, Statement("", sql))) == set()


@pytest.mark.parametrize("sql", WITHOUT_TENANT)
def test_a_statement_without_its_tenant(cursor: psycopg2.extensions.cursor, sql: str) -> None:
    assert tables_without_tenant(explain(cursor, Statement("", sql)))


def test_a_condition_is_divided_where_all_parts_have_to_hold() -> None:
    assert conjuncts("((a.b = $1) AND ((c.d = $2) OR (c.e = $3)) AND f.g)") == ["(a.b = $1)", "f.g"]
    assert conjuncts("(a.b = $1)") == ["a.b = $1"]


def test_what_the_app_executes_is_recorded_and_what_a_test_executes_is_not(app: Flask) -> None:
    with recording() as recorder, transaction():
        session().execute(text("SELECT FROM reviews"))
        assert recorder.statements == {}
        find_interaction(uuid.uuid4(), uuid.uuid4())
        FIND_REVIEW.first(environment_id=uuid.uuid4(), interaction_id=uuid.uuid4())
    statements = list(recorder.statements.values())
    assert [statement.origin for statement in statements] == ["interactions.service.find_interaction", "find_review"]
    assert re.search(r"WHERE \S+environment_id = \$1\S* AND interactions.id = \$2\S*$", statements[0].sql)
    assert statements[0].types == ("uuid", "uuid")


def test_a_statement_that_is_not_listed_fails_the_run(
    migrated_app: Flask, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    across = Statement("reviews.list_all", "SELECT FROM reviews")
    mixed = Statement(
        "reviews.find_signals",
        "SELECT FROM reviews r JOIN signals s ON s.interaction_id = r.interaction_id"
        " WHERE r.environment_id = $1 AND s.product_id = $2",
    )
    with pytest.raises(AssertionError, match=r"reviews.list_all reads reviews without its tenant"):
        require_tenants(settings.database_url, [across])
    with pytest.raises(AssertionError, match=r"reviews.find_signals joins tables"):
        require_tenants(settings.database_url, [mixed])
    monkeypatch.setitem(ACROSS_TENANTS, ("reviews.list_all", "reviews"), "a test")
    monkeypatch.setitem(OF_TWO_TENANTS, "reviews.find_signals", "a test")
    require_tenants(settings.database_url, [across, mixed])


def test_every_entry_names_what_is_there() -> None:
    sources = {path: path.read_text() for path in (ROOT / "app").rglob("*.py")}
    for origin in {*OF_TWO_TENANTS, *(origin for origin, _ in ACROSS_TENANTS)}:
        module, _, name = origin.rpartition(".")
        if module:
            assert f"def {name}(" in sources[ROOT / "app" / f"{module.replace('.', '/')}.py"], origin
        else:
            assert any(f'"{name}"' in source for source in sources.values()), origin


def test_the_guide_says_of_every_table_where_it_lies() -> None:
    rows = re.findall(
        r"^\| (reference|on the|distributed)([^|]*)\| (`.*) \|$", (ROOT / "docs/scale.md").read_text(), re.M
    )
    places = {table: f"{kind}{place}" for kind, place, tables in rows for table in re.findall(r"`(\w+)`", tables)}
    assert places.keys() == METADATA.tables.keys()
    # The audit log and invitations are read by people, a page at a time.
    for table, column in TENANT_COLUMNS.items():
        assert table in ("audit_entries", "invitations") or f"`{column}`" in places[table], table
