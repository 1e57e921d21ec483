"""The flask command without settings, or with wrong ones."""

import secrets
import subprocess

import pytest

from app import cli
from tests.conftest import NO_DATA_DIR, ROOT, Servers, environment
from tests.journeys.stack import BIN


def flask(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    """Run the command with nothing but these settings."""
    environ = {"PATH": "/usr/bin:/bin", "AGENT_FEEDBACK_DATA_DIR": NO_DATA_DIR, **settings}
    return subprocess.run(
        [BIN / "flask", *arguments], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("arguments", [(), ("--help",), ("key", "create", "--help")])
def test_help_needs_no_settings(arguments: tuple[str, ...]) -> None:
    process = flask(*arguments)
    assert "The service cannot start" not in process.stderr
    # Click 8.2 ends with 2 where no command is given.
    assert process.returncode == (0 if arguments else 2)
    for command in ("key", "workspace", "jobs", "db") if len(arguments) < 2 else ("--expires-in",):
        assert command in process.stdout + process.stderr


def test_a_command_needs_settings_and_says_which() -> None:
    process = flask("key", "list")
    assert process.returncode != 0
    assert "DATABASE_URL is not set" in process.stderr
    assert "Traceback" not in process.stderr


def test_migrations_with_a_wrong_url_end_with_a_sentence(servers: Servers) -> None:
    process = flask(
        "db", "upgrade", **environment(Servers("", servers.broker_url), "postgresql://nobody:secret@127.0.0.1:1/x")
    )
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == "PostgreSQL at 127.0.0.1:1 refuses connections; is DATABASE_URL right?\n"


def test_migrations_as_the_services_role_end_with_a_sentence(servers: Servers) -> None:
    if not servers.has_roles:
        pytest.skip("a named server has one role")
    environ = environment(servers, servers.database(f"test_{secrets.token_hex(4)}"))
    process = flask("db", "upgrade", **{**environ, "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL": ""})
    assert process.returncode == 1
    assert process.stderr == (
        "PostgreSQL reports: permission denied for schema public; "
        "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL has to name the tables' owner.\n"
    )


def test_migrations_run_from_the_command_line(servers: Servers) -> None:
    process = flask("db", "upgrade", **environment(servers, servers.database(f"test_{secrets.token_hex(4)}")))
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ("arguments", "is_help"),
    [
        (["/x/.venv/bin/flask"], True),
        (["/x/site-packages/flask/__main__.py", "db", "--help"], True),
        (["/x/.venv/bin/flask", "key", "list"], False),
        (["/x/.venv/bin/gunicorn", "--help"], False),
    ],
)
def test_only_the_flask_command_is_asked_for_help(arguments: list[str], is_help: bool) -> None:
    assert cli.asks_for_help(arguments) is is_help


@pytest.mark.parametrize(
    ("arguments", "is_offline"),
    [
        (["/x/.venv/bin/flask", "sdk", "build"], True),
        (["/x/.venv/bin/flask", "--app", "wsgi", "sdk", "schemas"], True),
        (["/x/.venv/bin/flask", "key", "create", "--name", "sdk"], False),
        (["/x/.venv/bin/flask", "key", "--help"], True),
        (["/x/.venv/bin/gunicorn", "sdk"], False),
    ],
)
def test_only_help_and_the_sdk_need_no_settings(arguments: list[str], is_offline: bool) -> None:
    assert cli.needs_no_settings(arguments) is is_offline


@pytest.mark.parametrize(
    ("arguments", "is_command"),
    [
        (["/x/.venv/bin/flask", "key", "list"], True),
        (["/x/.venv/bin/flask", "--app", "wsgi", "jobs", "status"], True),
        (["/x/.venv/bin/flask", "run"], False),
        (["/x/.venv/bin/flask", "routes"], False),
        (["/x/.venv/bin/gunicorn", "wsgi:app"], False),
    ],
)
def test_only_commands_of_the_service_serve_no_http(arguments: list[str], is_command: bool) -> None:
    assert cli.runs_command(arguments) is is_command


def test_a_command_imports_no_routes(servers: Servers) -> None:
    script = (
        "import sys; sys.argv = ['flask', 'key', 'list']; import wsgi, app.cli.keys;"
        "print(*(name for name in sys.modules if name.startswith('app.')))"
    )
    modules = subprocess.run(
        [BIN / "python", "-c", script],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", **environment(servers, servers.database(f"test_{secrets.token_hex(4)}"))},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()
    assert "app.core.database" in modules
    assert not [name for name in modules if name.endswith("routes") or name == "app.blueprints"]
