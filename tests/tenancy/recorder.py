"""Record every statement on a tenant table that the app executes in a run of tests, with the function that did."""

import re
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from sqlalchemy import Engine, event

from app.core.database import Database, PreparedStatement
from app.models import METADATA

ROOT = Path(__file__).resolve().parents[2]

TENANTS = {"environment_id", "product_id", "workspace_id"}

SMALL = {"memberships"}
"""A few rows of each user and workspace, found by either: copied to every node, as workspaces and users are."""

TENANT_COLUMNS = {
    table.name: column.name
    for table in METADATA.sorted_tables
    for column in [next(iter(table.primary_key.columns))]
    if column.name in TENANTS and table.name not in SMALL
}
"""The column by which each tenant table would be distributed; every other table would be copied to every node."""

_TENANT_TABLE = re.compile(rf"\b({'|'.join(TENANT_COLUMNS)})\b")
_PARAMETER = re.compile(r"%(?:\((\w+)\))?s|%%")
_LIST = re.compile(r"%\(\w+\)s(?:, %\(\w+\)s)+")
_HAS_PLAN = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")
_ONLY_INSERTS = re.compile(r"\s*INSERT\b(?!.*\b(SELECT|WHERE)\b)", re.DOTALL)
_APP, _DATABASE, _TESTS = (str(ROOT / folder) for folder in ("app/", "app/core/database/", "tests/"))

_TYPES = {
    uuid.UUID: "uuid",
    bool: "boolean",
    int: "integer",
    float: "double precision",
    bytes: "bytea",
    datetime: "timestamptz",
    date: "date",
}


@dataclass(frozen=True)
class Statement:
    """A statement with numbered parameters."""

    origin: str
    """The function of the app that executed it, or the name of a prepared statement."""
    sql: str
    types: tuple[str, ...] = ()
    """The types that psycopg2 gives to its parameters; empty for those that PostgreSQL infers from their place."""

    @property
    def typed_sql(self) -> str:
        """The statement with a cast of each parameter whose type is known."""
        casts = [f"${number}" + (f"::{name}" if name else "") for number, name in enumerate(self.types, 1)]
        return re.sub(r"\$(\d+)", lambda match: casts[int(match[1]) - 1], self.sql) if casts else self.sql


@dataclass
class Recorder:
    """The distinct statements so far."""

    statements: dict[tuple[str, str], Statement] = field(default_factory=dict)

    def record_prepared(self, statement: PreparedStatement[Any]) -> None:
        sql = statement.prepare.partition(" AS ")[2]
        key = (statement.name, sql)
        if key not in self.statements and _TENANT_TABLE.search(sql) and not statement.name.startswith("test_"):
            self.statements[key] = Statement(statement.name, sql)

    def record(self, sql: str, parameters: Mapping[str, object] | Sequence[object]) -> None:
        # Migrations of a test run in the same process: what defines a table has no plan.
        if not _TENANT_TABLE.search(sql) or not _HAS_PLAN.match(sql) or _ONLY_INSERTS.match(sql):
            return
        origin = _origin(sys._getframe(1))
        key = (origin or "", _LIST.sub("list", sql))
        if origin is not None and key not in self.statements:
            self.statements[key] = _numbered(origin, sql, parameters)


def _origin(frame: FrameType | None) -> str | None:
    """Return the function of the app that is the last one on the stack, or None for one of a test."""
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_TESTS):
            # This module is the first on the stack.
            if path != __file__:
                return None
        elif path.startswith(_APP) and not path.startswith(_DATABASE):
            function = frame.f_code.co_qualname.partition(".<locals>")[0]
            return f"{frame.f_globals['__name__'].removeprefix('app.')}.{function}"
        frame = frame.f_back
    return None


def _numbered(origin: str, sql: str, parameters: Mapping[str, object] | Sequence[object]) -> Statement:
    numbers: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        if match[0] == "%%":
            return "%"
        name = match[1] or str(len(numbers))
        return f"${numbers.setdefault(name, len(numbers) + 1)}"

    numbered = _PARAMETER.sub(number, sql)
    values = [parameters[name] if isinstance(parameters, Mapping) else parameters[int(name)] for name in numbers]
    return Statement(origin, numbered, tuple(map(_type, values)))


def _type(value: object) -> str:
    if isinstance(value, list):
        name = _type(value[0]) if value else ""
        return f"{name}[]" if name else ""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 2**31:
        return "bigint"
    return next((name for type_, name in _TYPES.items() if type(value) is type_), "")


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record what every engine and every prepared connection executes."""
    recorder = Recorder()
    execute: Callable[..., Any] = Database.execute_prepared

    def execute_prepared(database: Database, statement: PreparedStatement[Any], parameters: Sequence[Any]) -> Any:
        for part in statement.statements:
            recorder.record_prepared(part)
        return execute(database, statement, parameters)

    def before_cursor_execute(
        _connection: object, _cursor: object, sql: str, parameters: Any, _context: object, _is_many: bool
    ) -> None:
        recorder.record(sql, parameters[0] if isinstance(parameters, list) else parameters)

    event.listen(Engine, "before_cursor_execute", before_cursor_execute)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "execute_prepared", execute_prepared)
        try:
            yield recorder
        finally:
            event.remove(Engine, "before_cursor_execute", before_cursor_execute)
