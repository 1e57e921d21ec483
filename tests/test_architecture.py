"""The laws of docs/architecture.md that no other tool checks."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.blueprints import API_MOUNTS, PAGE_MOUNTS, PROTOCOL_MOUNTS
from app.dashboard.navigation import NAVIGATION
from app.models import METADATA
from tests.conftest import ROOT

MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 35
MAX_ROUTE_LINES = 15
MAX_TASK_LINES = 6

PURE = ("rules.py", "keys.py", "capability.py", "handle.py", "payload.py")
SDK_FOLDERS = ("sdk/python/src", "sdk/python/conformance", "sdk/conformance")

VAGUE_NAMES = {"utils", "helpers", "common", "misc"}

LOOKED_UP_BY_ID = {
    "workspaces",
    "users",
    "products",
    "environments",
    "keys",
    "login_sessions",
    "second_factors",
    "user_identities",
    "sign_in_throttles",
    "job_runs",
    "replaced_peppers",
}
"""Small tables that every query joins: on a distributed engine they are copied to every node, so no tenant leads.

Whose a login session is, and whose an attempt to sign in, is known only once it was found by what came in.
"""

CREATES_A_CREDENTIAL = {"sign_in.open_session"}
"""Public endpoints that answer 401 all the same."""

TENANTS = {"environment_id", "product_id", "workspace_id"}


def sources(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree(path)) if isinstance(node, ast.FunctionDef))


def imports(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Import):
            yield from (name.name for name in inner.names)
        elif isinstance(inner, ast.ImportFrom) and inner.module:
            yield inner.module


def length(node: ast.FunctionDef) -> int:
    assert node.end_lineno
    return node.end_lineno - node.lineno + 1


def test_files_and_functions_stay_small() -> None:
    paths = sources("app", "workers", "config", "migrations", "bench", "tests", *SDK_FOLDERS)
    long_files = [str(path) for path in paths if len(path.read_text().splitlines()) > MAX_FILE_LINES]
    long_functions = [
        f"{path}:{function.name}"
        for path in paths
        if "versions" not in path.parts and "tests" not in path.parts
        for function in functions(path)
        if length(function) > MAX_FUNCTION_LINES
    ]
    assert (long_files, long_functions) == ([], [])


def test_routes_and_tasks_hold_no_logic() -> None:
    routes = [f for path in sources("app") if path.name == "routes.py" for f in functions(path)]
    tasks = [f for path in sources("workers") if path.name not in ("celery.py", "schedule.py") for f in functions(path)]
    assert [f.name for f in routes if length(f) > MAX_ROUTE_LINES] == []
    assert [f.name for f in tasks if length(f) > MAX_TASK_LINES] == []


def test_pure_files_are_given_the_time() -> None:
    for path in sources("app"):
        if path.name in PURE:
            assert not re.search(r"core import clock|clock\.now|datetime\.now|time\.time\(", path.read_text()), path


def test_only_the_settings_read_the_environment() -> None:
    readers = [path for path in sources("app", "workers") if re.search(r"os\.environ|getenv", path.read_text())]
    # Development starts processes, which it hands the environment on to.
    assert [path for path in readers if "dev" not in path.parts] == []


def test_transactions_are_committed_in_one_place() -> None:
    commit_paths = [path for path in sources("app", "workers") if ".commit()" in path.read_text()]
    assert commit_paths == [ROOT / "app/core/database/transaction.py"]


FINDS_THE_RUNNING_APP = {"app/__init__.py", "app/blueprints.py", "app/products/key_cache.py"}
"""Files outside of the HTTP side that import Flask: the factory, the mounts, what belongs to the app of a process."""


def test_only_the_http_side_knows_flask() -> None:
    violations = {
        str(path.relative_to(ROOT))
        for path in sources("app", "workers", "config")
        if path.name not in ("routes.py", "guards.py")
        and not {"core", "dashboard", "cli"} & set(path.relative_to(ROOT).parts)
        and any(name.partition(".")[0] in ("flask", "flask_smorest", "werkzeug") for name in imports(tree(path)))
    }
    assert violations == FINDS_THE_RUNNING_APP


PAGES_WITHOUT_A_LINK = {
    "dashboard.show_sign_in": "whoever is not signed in is redirected to it",
    "dashboard.show_code": "the second step of signing in",
    "single_sign_on.begin": "the sign-in page links to it where there is a provider",
    "single_sign_on.finish": "the provider redirects to it",
    "account.show_second_factor": "the page of the account links to it",
    "gallery.show_gallery": "for who builds pages, in a development copy only",
    "questions.new_question": "the list of questions links to it",
    "questions.edit_question": "the list of questions links to it",
    "questions.confirm_removal": "the page of the question links to it",
    "customers.show_customer": "the list of customers links to it",
    "customers.confirm_export": "the page of the customer links to it",
    "customers.confirm_erasure": "the page of the customer links to it",
    "customers.confirm_opt_out": "the page of the customer links to it",
    "interactions.show_interaction": "the list of interactions links to it",
    "operations.show_operation": "the list of operations links to it",
    "feedback.list_findings": "a tab of the page of feedback",
    "feedback.show_item": "the list of feedback links to it",
    "sessions.show_session": "the list of sessions links to it",
    "keys.show_rotation": "the list of keys links to it",
    "keys.show_revocation": "the list of keys links to it",
    "settings.show_product": "the page of the settings links to it",
    "settings.show_environment": "the page of the settings links to it",
    "team.show_removal": "the list of members links to it",
    "invitation.show_invitation": "whoever is invited is given its address",
    "set_up.show_check": "the set-up page refreshes its check from it",
}
STEPS = {"playground.show_interaction": "a script of the playground calls it; it answers in JSON"}


def test_every_page_is_in_the_navigation(app: Flask) -> None:
    templates = ROOT / "app/dashboard/templates"
    frame = "".join((templates / name).read_text() for name in ("base.html", "components/reference.html"))
    linked_endpoints = set(re.findall(r"""href="\{\{ (?:url_for|scoped_url)\('([\w.]+)'\)""", frame))
    linked_endpoints |= {link.endpoint for _, group in NAVIGATION for link in group}
    names = {mount.blueprint.name for mount in PAGE_MOUNTS}
    pages = {
        rule.endpoint
        for rule in app.url_map.iter_rules()
        if rule.endpoint.partition(".")[0] in names
        and "GET" in (rule.methods or ())
        and not {"filename", "file_format"} & rule.arguments
    }
    assert pages - linked_endpoints == PAGES_WITHOUT_A_LINK.keys() | STEPS.keys()


IMPORTED_LATE = {
    ("app/__init__.py", "app"): "commands and workers start in half the time without the mounts",
    ("app/mcp/routes.py", "app.mcp.exchange"): "the protocol's SDK, only where its messages are answered",
    ("app/core/metrics/counting.py", "app.core.metrics.prometheus"): "prometheus_client, only where metrics are read",
    ("app/core/traces/tracing.py", "app.core.traces.opentelemetry"): "OpenTelemetry, only where traces are sent",
}


def test_our_own_code_is_imported_at_the_top() -> None:
    late_imports = {
        (str(path.relative_to(ROOT)), name)
        for path in sources("app", "workers", "config")
        for function in functions(path)
        for name in imports(function)
        if name.partition(".")[0] in ("app", "workers", "config")
    }
    assert late_imports == IMPORTED_LATE.keys()


def test_packages_and_modules_have_names_that_say_something() -> None:
    assert [path for path in sources("app", "workers", "config") if path.stem in VAGUE_NAMES] == []


def test_every_endpoint_has_a_guard_a_summary_and_a_response(app: Flask) -> None:
    guards = {mount.blueprint.name: mount.guard for mount in API_MOUNTS}
    description = app.extensions["flask-smorest"]["apis"][""]["ext_obj"].spec.to_dict()["paths"]
    undescribed = {mount.blueprint.name for mount in (*PAGE_MOUNTS, *PROTOCOL_MOUNTS)} | {"api-docs"}
    for rule in app.url_map.iter_rules():
        blueprint = rule.endpoint.partition(".")[0]
        if blueprint in undescribed:
            continue
        assert blueprint in guards, rule
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            operation = description[path][method.lower()]
            assert operation["summary"], rule
            assert any(str(status).startswith("2") for status in operation["responses"]), rule
            is_guarded = guards[blueprint].credential is not None or rule.endpoint in CREATES_A_CREDENTIAL
            assert ("401" in operation["responses"]) is is_guarded, rule


def test_every_tenant_table_leads_with_its_tenant() -> None:
    for table in METADATA.sorted_tables:
        if table.name in LOOKED_UP_BY_ID:
            continue
        keys = [table.primary_key, *(index for index in table.indexes if index.unique)]
        for key in keys:
            assert next(iter(key.columns)).name in TENANTS, f"{table.name}: {key.name}"


SUPPRESSION = re.compile(r"#\s*(?:type: ignore(?:\[[a-z, -]+\])?|noqa: [A-Z0-9, ]*[A-Z0-9])(?P<reason>.*)")
ANY_SUPPRESSION = re.compile(r"#\s*(?:type: ignore|noqa)")


def test_every_suppression_has_its_reason_beside_it() -> None:
    bare_suppressions = []
    for path in sources("app", "workers", "config", "bench", "tests", *SDK_FOLDERS):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if ANY_SUPPRESSION.search(line) and path.name != "test_architecture.py":
                match = SUPPRESSION.search(line)
                if match is None or not re.match(r"\s+# \S", match["reason"]):
                    bare_suppressions.append(f"{path}:{number}")
    assert bare_suppressions == []


def test_settings_and_pepper_are_read_in_one_place() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in sources("app", "workers")
        if re.search(r'extensions\["settings"\]|key_pepper', path.read_text())
    ]
    assert sorted(readers) == [
        "app/__init__.py",
        "app/core/http/openapi.py",
        "app/core/pepper.py",
        "app/core/settings.py",
    ]


def test_every_requirement_is_pinned() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line.split("#")[0].strip() for line in (ROOT / name).read_text().splitlines()]
        loose_requirements = [
            line for line in lines if line and not line.startswith("-") and not re.match(r"[\w.-]+==[\w.]+$", line)
        ]
        assert loose_requirements == []


def test_the_procfile_has_the_four_parts() -> None:
    names = [line.partition(":")[0] for line in (ROOT / "Procfile").read_text().splitlines()]
    assert names == ["release", "web", "worker", "beat"]


def test_no_secret_and_no_large_file_is_committed() -> None:
    paths = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    if not paths:
        pytest.fail("the tests run in a checkout")
    assert [name for name in paths if name.endswith((".pem", ".key", ".env"))] == []
    assert [name for name in paths if (ROOT / name).is_file() and (ROOT / name).stat().st_size > 200_000] == []
