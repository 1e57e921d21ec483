"""`bin/dev`: start the service, print how to use it, and stop it on Ctrl-C."""

import contextlib
import errno
import fcntl
import json
import logging
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import click

from app import create_app
from app.cli import migrations
from app.cli.dev import demo
from app.cli.dev.banner import banner
from app.cli.dev.output import Output
from app.cli.dev.postgres import OWNER, SERVICE, EmbeddedPostgres
from app.cli.dev.reviews import write_reviews
from app.cli.dev.server_process import ServerFailed, socket_folder
from app.cli.dev.supervisor import Supervisor, read_procfile
from app.cli.dev.valkey import EmbeddedValkey
from app.cli.folder import Folder
from app.health.connections import database_error
from config.broker_connection import broker_error
from config.secret_rings import DEVELOPMENT_PREFIX
from config.settings import RUNNING_COPY, BadSettings, Settings

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_PORT = 8000
FIRST_UNPRIVILEGED_PORT = 1024
PORTS_TO_TRY = 100
READY_TIMEOUT_S = 60.0
MIGRATIONS_URL = "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL"
DATABASE = "agent_feedback"


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help=f"[default: {DEFAULT_PORT}, or the next that is free]")
@click.option("--data-dir", type=Folder(), help="[default: .data in the checkout]")
@click.option("--verbose", is_flag=True, help="Show everything that the processes log, each request included.")
def up(port: int | None, data_dir: Path | None, *, verbose: bool) -> None:
    """Run the whole service on this machine until Ctrl-C.

    DATABASE_URL and REDIS_URL name servers to be used instead of the embedded ones.
    """
    # `bin/dev` has changed into the checkout; a path on its command line is relative to the caller's folder.
    caller_folder = Path(os.environ.get("AGENT_FEEDBACK_CALLED_FROM", "."))
    data_dir = (caller_folder / data_dir if data_dir else ROOT / ".data").resolve()
    with contextlib.ExitStack() as stack:
        # Also in the background, where a shell has told the process to ignore Ctrl-C.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, _interrupt)
        try:
            _run(stack, port, data_dir, verbose=verbose)
        except KeyboardInterrupt:
            click.echo("\nending everything …")
            # A second Ctrl-C must not leave anything behind.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        except (ServerFailed, BadSettings) as error:
            raise click.ClickException(str(error)) from None
        except OSError as error:
            path = error.filename or data_dir
            raise click.ClickException(f"cannot use {path}: {error.strerror}; is --data-dir right?") from None


def _run(stack: contextlib.ExitStack, port: int | None, data_dir: Path, *, verbose: bool) -> None:
    _prepare_data_dir(data_dir)
    stack.enter_context(_lock_data_dir(data_dir))
    port = _choose_port(port)
    urls, servers = _start_servers(stack, data_dir)
    environment = {**_given_settings(), **urls, **_service_environment(data_dir, port)}
    settings = Settings.from_env(environment)
    app = create_app(settings, serves_http=False)
    click.echo("preparing the database …")
    with app.app_context():
        if not verbose:
            logging.getLogger("alembic").setLevel(logging.WARNING)
        migrations.upgrade()
        credentials = demo.write_credentials(data_dir, settings.feedback_url)
        sample_workspace_id = demo.find_sample_workspace(credentials["dashboard"]["email"])
    demo.write_private(data_dir / RUNNING_COPY, environment)
    stack.callback((data_dir / RUNNING_COPY).unlink, missing_ok=True)
    output = Output(stack.enter_context((data_dir / "processes.log").open("w")), is_verbose=verbose)
    supervisor = _start_processes(stack, environment, output)
    _wait_until_ready(settings.feedback_url, data_dir)
    click.echo(banner(credentials, data_dir))
    stop_event = threading.Event()
    stack.callback(stop_event.set)
    arguments = (app, uuid.UUID(credentials["environmentId"]), output.say, stop_event)
    threading.Thread(target=write_reviews, args=arguments, daemon=True).start()
    if sample_workspace_id is not None:
        threading.Thread(target=demo.seed_sample, args=(app, sample_workspace_id, stop_event), daemon=True).start()
    supervisor.watch(servers)


def _prepare_data_dir(data_dir: Path) -> None:
    """Create the data directory, and check that it is writable."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=data_dir):
        pass


def _start_processes(stack: contextlib.ExitStack, environment: dict[str, str], output: Output) -> Supervisor:
    click.echo("starting web, worker and beat …")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    supervisor = Supervisor({**os.environ, **environment, "PATH": path}, ROOT, output.write_process_line)
    stack.callback(supervisor.end)
    for name, command in read_procfile(ROOT / "Procfile").items():
        if name != "release":
            supervisor.start(name, command)
    return supervisor


@contextlib.contextmanager
def _lock_data_dir(data_dir: Path) -> Iterator[None]:
    with (data_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise click.ClickException(
                f"a copy is running on {data_dir} already; end it, or start this one with another --data-dir"
            ) from None
        yield


def _choose_port(requested_port: int | None) -> int:
    """Return the requested port, or the first free one from the default on."""
    for port in [requested_port] if requested_port else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except PermissionError:
                raise click.ClickException(
                    f"port {port} is for the administrator alone; choose one from {FIRST_UNPRIVILEGED_PORT} on"
                ) from None
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise click.ClickException(f"port {port} cannot be used: {error.strerror}") from None
                continue
            return port
    raise click.ClickException(f"port {requested_port or DEFAULT_PORT} is taken; choose another with --port")


def _start_servers(
    stack: contextlib.ExitStack, data_dir: Path
) -> tuple[dict[str, str], list[EmbeddedPostgres | EmbeddedValkey]]:
    """Return the URLs of database and broker, after starting a server for each URL that the environment lacks."""
    servers: list[EmbeddedPostgres | EmbeddedValkey] = []
    urls = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    click.echo(
        f"starting {' and '.join(_embedded_servers(urls))} …"
        if _embedded_servers(urls)
        else "using the named servers …"
    )
    _check_servers(urls)
    if os.environ.get(MIGRATIONS_URL):
        urls[MIGRATIONS_URL] = os.environ[MIGRATIONS_URL]
    if _embedded_servers(urls):
        sockets = socket_folder()
        stack.callback(_remove_sockets, sockets)
    if "DATABASE_URL" not in urls:
        postgres = EmbeddedPostgres(data_dir / "postgres", sockets, data_dir / "postgres.log")
        stack.callback(postgres.stop)
        postgres.start()
        servers.append(postgres)
        postgres.create_database(DATABASE)
        urls["DATABASE_URL"] = postgres.url(DATABASE, SERVICE)
        urls[MIGRATIONS_URL] = postgres.url(DATABASE, OWNER)
    if "REDIS_URL" not in urls:
        valkey = EmbeddedValkey(sockets, data_dir / "valkey.log")
        stack.callback(valkey.stop)
        valkey.start()
        servers.append(valkey)
        urls["REDIS_URL"] = valkey.url
    return urls, servers


def _embedded_servers(urls: dict[str, str]) -> list[str]:
    return [server for name, server in (("DATABASE_URL", "PostgreSQL"), ("REDIS_URL", "Valkey")) if name not in urls]


def _check_servers(urls: dict[str, str]) -> None:
    """Connect to the servers that the environment names, and raise `ServerFailed` where that fails."""
    checks: dict[str, Callable[[str], str | None]] = {"DATABASE_URL": database_error, "REDIS_URL": broker_error}
    errors = [error for name, url in urls.items() if (error := checks[name](url))]
    if errors:
        raise ServerFailed("\n".join(errors))


def _given_settings() -> dict[str, str]:
    """Return the settings that this process was given: commands in other shells run with the same ones."""
    return {name: text for name, text in os.environ.items() if name.startswith("AGENT_FEEDBACK_")}


def _service_environment(data_dir: Path, port: int) -> dict[str, str]:
    """Return the rest of the service's environment; the secrets are generated once for each data directory."""
    path = data_dir / "secrets.json"
    if not path.is_file():
        names = ("AGENT_FEEDBACK_KEY_PEPPER", "AGENT_FEEDBACK_SEALING_KEYS")
        demo.write_private(path, {name: DEVELOPMENT_PREFIX + secrets.token_urlsafe(32) for name in names})
    stored_secrets: dict[str, str] = json.loads(path.read_text())
    return {
        **stored_secrets,
        "AGENT_FEEDBACK_ENV": "development",
        "AGENT_FEEDBACK_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "AGENT_FEEDBACK_HOST": "127.0.0.1",
        "AGENT_FEEDBACK_DATA_DIR": str(data_dir),
        "PORT": str(port),
        # Celery warns of running as root, which a container or a fresh machine may well do.
        "PYTHONWARNINGS": "ignore::UserWarning:celery.platforms",
    }


def _wait_until_ready(url: str, data_dir: Path) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=3):
            return
        time.sleep(0.1)
    raise ServerFailed(f"the web process did not become ready; {data_dir / 'processes.log'} says why")


def _remove_sockets(sockets: Path) -> None:
    for path in sockets.iterdir():
        path.unlink()
    sockets.rmdir()


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    up(prog_name="bin/dev")
