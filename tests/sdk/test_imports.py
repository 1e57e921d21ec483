"""The modules of the Python library import each other without a cycle."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import agent_feedback

PACKAGE = Path(agent_feedback.__file__).parent


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py")}


def imported_modules(path: Path) -> set[str]:
    """Return the modules of the library that a file imports, in functions and for type checkers too."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "agent_feedback":
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            modules |= (names & MODULES.keys()) or {node.module}
    return modules - {module_name(path)}


def test_the_imports_have_an_order() -> None:
    graph = {name: imported_modules(path) for name, path in MODULES.items()}
    assert len(graph) > 60
    TopologicalSorter(graph).prepare()


def test_the_library_does_not_import_the_exporter_nor_the_command_line() -> None:
    for name, path in MODULES.items():
        if not name.startswith(("agent_feedback.evidence", "agent_feedback.cli", "agent_feedback.__main__")):
            foreign = {module for module in imported_modules(path) if module.split(".")[1] in ("evidence", "cli")}
            assert not foreign, name
