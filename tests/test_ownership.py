"""A package reads and writes its own tables, in SQL and by models."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Table

from app.core.database import Base
from tests.conftest import ROOT
from tests.test_architecture import tree

SQL_TABLE = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:ONLY\s+)?([a-z_]+)")

FOREIGN_TABLES = {
    ("evidence", "environments"): "one statement stores events, and only those within the environment's retention",
    ("interactions", "reviews"): "the outcome by which an interaction is counted is copied when it is promoted",
}
"""Tables of another package that a package names in its SQL, and why."""


def owners() -> dict[str, str]:
    """Return the package of each table."""
    return {
        mapper.local_table.name: mapper.class_.__module__.split(".")[1]
        for mapper in Base.registry.mappers
        if isinstance(mapper.local_table, Table)
    }


def sql_tables(path: Path) -> set[str]:
    """Return what the string literals of a file name as tables; docstrings count as well, and name none in capitals."""
    texts = (node.value for node in ast.walk(tree(path)) if isinstance(node, ast.Constant))
    return {table for text in texts if isinstance(text, str) for table in SQL_TABLE.findall(text)}


def test_a_package_reads_and_writes_its_own_tables_only() -> None:
    owner = owners()
    packages = [(path, path.relative_to(ROOT / "app").parts[0]) for path in (ROOT / "app").rglob("*.py")]
    named = {
        (package, table)
        for path, package in packages
        for table in sql_tables(path)
        if owner.get(table, package) != package
    }
    assert named == set(FOREIGN_TABLES)


def test_a_foreign_table_in_sql_is_seen() -> None:
    assert SQL_TABLE.findall("WITH a AS (INSERT INTO reviews (id)) SELECT 1 FROM  signals JOIN keys ON true") == [
        "reviews",
        "signals",
        "keys",
    ]


FOREIGN_MODELS = {
    ("dashboard", "Interaction"): "the overview counts what every package has of a workspace in a few statements",
    ("dashboard", "InteractionSession"): "as Interaction",
    ("dashboard", "Review"): "as Interaction",
    ("dashboard", "Report"): "as Interaction",
    ("evidence", "Environment"): "a summary's environment is found with its product and workspace in one statement",
    ("evidence", "Product"): "as Environment",
    ("retention", "Environment"): "a purge reads every environment's retention in one statement",
    ("products", "Workspace"): "a product is created only where its workspace exists",
}
"""Models of another package that a package uses outside of annotations, and why; none of them is written."""

WRITES = {"insert", "update", "delete", "delete_rows", "add", "add_all", "merge"}


def annotations(node: ast.AST) -> Iterator[ast.AST | None]:
    """Yield the annotations of a definition or an assignment."""
    if isinstance(node, ast.FunctionDef):
        yield node.returns
    elif isinstance(node, ast.arg | ast.AnnAssign):
        yield node.annotation


def foreign_models(source: ast.Module, package: str) -> Iterator[tuple[str, bool]]:
    """Yield each use of another package's model outside of annotations, and whether it is an argument of a write."""
    models = {
        alias.asname or alias.name
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom) and re.match(rf"app\.(?!{package}\.)\w+\.models$", node.module or "")
        for alias in node.names
    }
    ignored = {id(name) for node in ast.walk(source) for part in annotations(node) if part for name in ast.walk(part)}
    written = {
        id(name)
        for node in ast.walk(source)
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in WRITES
        for argument in node.args
        for name in ast.walk(argument)
    }
    for node in ast.walk(source):
        if isinstance(node, ast.Name) and node.id in models and id(node) not in ignored:
            yield node.id, id(node) in written


def test_a_package_uses_its_own_models_only_and_writes_no_other() -> None:
    uses = [
        (package, model, is_write)
        for path in (ROOT / "app").rglob("*.py")
        for package in path.relative_to(ROOT / "app").parts[:1]
        for model, is_write in foreign_models(tree(path), package)
    ]
    assert {(package, model) for package, model, _ in uses} == set(FOREIGN_MODELS)
    assert [(package, model) for package, model, is_write in uses if is_write] == []


def test_a_foreign_model_in_a_write_is_seen() -> None:
    text = "from app.outcomes.models import Review\ndef a(b: Review): session().add(Review()); c = select(Review.id)"
    assert sorted(foreign_models(ast.parse(text), "reports")) == [("Review", False), ("Review", True)]
    assert list(foreign_models(ast.parse(text), "outcomes")) == []
