"""Finds what a migration may not do while the service is used, in its SQL."""

import io
import re
from collections.abc import Iterable, Iterator
from types import ModuleType

from alembic.migration import MigrationContext
from alembic.operations import Operations

SMALL_TABLES = {
    "enrichment_fields",
    "environments",
    "job_runs",
    "keys",
    "memberships",
    "products",
    "replaced_peppers",
    "second_factors",
    "user_identities",
    "users",
    "workspaces",
}
"""Tables that a scan locks for milliseconds only."""

_LONG_LOCKS = {
    r"CREATE (UNIQUE )?INDEX (?!CONCURRENTLY)": "blocks writes: use migrations.online.create_index",
    r"ALTER COLUMN \w+ (SET DATA )?TYPE": "rewrites the table: add a column, fill it by a job, then use it",
    r"ALTER COLUMN \w+ SET NOT NULL": "scans under a lock: CHECK (… IS NOT NULL) NOT VALID, validated later, will do",
    r"ADD (CONSTRAINT \w+ )?(CHECK|FOREIGN KEY)(?!.*NOT VALID)": "scans under a lock: NOT VALID first, validated later",
    r"ADD (CONSTRAINT \w+ )?(UNIQUE|PRIMARY KEY)(?! USING INDEX)": "makes an index under a lock: add it USING INDEX",
    r"ADD COLUMN .*(RANDOM|CLOCK_TIMESTAMP|NEXTVAL|SERIAL|GENERATED|REFERENCES)": "rewrites or scans the table",
    r"^(UPDATE|DELETE FROM) ": "locks every row until it ends: let a job do it in batches",
}

_BREAKS_THE_OLD_RELEASE = {
    r"RENAME": "the release before knows the old name: add a new one beside it",
    r"ADD COLUMN (?=.*NOT NULL)(?!.*DEFAULT)": "the release before does not set it: give it a default",
    r"DROP (COLUMN|TABLE)": "only once no release uses it: say so in the docstring, `Contract: unused since …`",
}

_TABLE = re.compile(
    r"(?:UPDATE|DELETE FROM|(?:CREATE|ALTER|DROP) TABLE|CREATE (?:UNIQUE )?INDEX .*? ON)(?: ONLY| IF EXISTS)? (\w+)"
)
_ACTION = re.compile(r", (?=(?:ADD|DROP|ALTER|VALIDATE|RENAME) )")


def list_statements(migration: ModuleType) -> list[str]:
    """Return the statements of a migration, on one line each, without running them."""
    buffer = io.StringIO()
    context = MigrationContext.configure(dialect_name="postgresql", opts={"as_sql": True, "output_buffer": buffer})
    with Operations.context(context):
        migration.upgrade()
    texts = [re.sub(r"--[^\n]*", "", text) for text in buffer.getvalue().split(";\n")]
    return [" ".join(text.split()) for text in texts if text.strip()]


def list_mistakes(statements: Iterable[str], docstring: str = "") -> Iterator[str]:
    """Yield what blocks requests for long, or breaks the release before."""
    new_tables: set[str] = set()
    for statement in statements:
        match = _TABLE.match(statement)
        if match is None or match[1] in new_tables:
            continue
        if statement.startswith("CREATE TABLE"):
            new_tables.add(match[1])
            continue
        rules = _BREAKS_THE_OLD_RELEASE | ({} if match[1] in SMALL_TABLES else _LONG_LOCKS)
        for action in _ACTION.split(statement):
            for pattern, reason in rules.items():
                is_contract = pattern.startswith("DROP") and "Contract: " in docstring
                if re.search(pattern, action.upper()) and not is_contract:
                    yield f"{action}: {reason}"
