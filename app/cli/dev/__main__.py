"""`bin/dev`: start everything, say how to use it, and end everything on Ctrl-C."""

import contextlib
import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn
from uuid import uuid4

import click

from app import create_app
from app.cli.dev import demo
from app.cli.dev.servers import EmbeddedPostgres, EmbeddedValkey, ServerFailed, socket_folder
from app.cli.dev.supervisor import Supervisor, read_procfile
from config.settings import DEVELOPMENT_PREFIX, RUNNING_COPY, BadSettings, Settings

ROOT = Path(__file__).resolve().parents[3]
DEFAULT_PORT = 8000
PORTS_TO_TRY = 100
READY_TIMEOUT_S = 60.0
DATABASE = "agent_feedback"


@click.command()
@click.option("--port", type=click.IntRange(1, 65535), help=f"[default: {DEFAULT_PORT}, or the next that is free]")
@click.option("--data-dir", type=click.Path(file_okay=False, path_type=Path), help="[default: .data in the checkout]")
def up(port: int | None, data_dir: Path | None) -> None:
    """Run the whole service on this machine until Ctrl-C."""
    # `bin/dev` has changed into the checkout; a path on its command line means the caller's folder.
    called_from = Path(os.environ.get("AGENT_FEEDBACK_CALLED_FROM", "."))
    data_dir = (called_from / data_dir if data_dir else ROOT / ".data").resolve()
    with contextlib.ExitStack() as stack:
        # Also in the background, where a shell has told the process to ignore Ctrl-C.
        for how in (signal.SIGTERM, signal.SIGINT):
            signal.signal(how, _interrupt)
        try:
            _up(stack, port, data_dir)
        except KeyboardInterrupt:
            click.echo("\nending everything …")
            # A second Ctrl-C must not leave anything behind.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        except (ServerFailed, BadSettings, OSError) as error:
            raise click.ClickException(str(error)) from None
        except subprocess.CalledProcessError:
            raise click.ClickException(
                "the database could not be brought up to date; the lines above say why. Is DATABASE_URL right?"
            ) from None


def _up(stack: contextlib.ExitStack, port: int | None, data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    stack.enter_context(_alone(data_dir))
    port = _port(port)
    urls, servers = _servers(stack, data_dir)
    environment = {**urls, **_service(data_dir, port)}
    procfile = read_procfile(ROOT / "Procfile")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    supervisor = Supervisor({**os.environ, **environment, "PATH": path}, ROOT)
    supervisor.run(procfile.pop("release"))
    settings = Settings.from_env(environment)
    app = create_app(settings)
    with app.app_context():
        credentials = demo.write_credentials(data_dir, settings.feedback_url)
    demo.write_private(data_dir / RUNNING_COPY, environment)
    stack.callback((data_dir / RUNNING_COPY).unlink, missing_ok=True)
    stack.callback(supervisor.end)
    for name, command in procfile.items():
        supervisor.start(name, command)
    _wait_until_ready(settings.feedback_url)
    click.echo(_welcome(credentials, data_dir))
    supervisor.watch(servers)


@contextlib.contextmanager
def _alone(data_dir: Path) -> Iterator[None]:
    with (data_dir / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise click.ClickException(
                f"a copy is running on {data_dir} already; end it, or start this one with another --data-dir"
            ) from None
        yield


def _port(wanted: int | None) -> int:
    """Return the wanted port, or the first free one from the default on."""
    for port in [wanted] if wanted else range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TO_TRY):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise click.ClickException(f"port {wanted or DEFAULT_PORT} is taken; choose another with --port")


def _servers(
    stack: contextlib.ExitStack, data_dir: Path
) -> tuple[dict[str, str], list[EmbeddedPostgres | EmbeddedValkey]]:
    """Return the URLs of database and broker, and the servers that were started where the environment named none."""
    started: list[EmbeddedPostgres | EmbeddedValkey] = []
    urls = {name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL") if os.environ.get(name)}
    if len(urls) < 2:
        sockets = socket_folder()
        stack.callback(_remove, sockets)
    if "DATABASE_URL" not in urls:
        postgres = EmbeddedPostgres(data_dir / "postgres", sockets, data_dir / "postgres.log")
        stack.callback(postgres.stop)
        postgres.start()
        started.append(postgres)
        urls["DATABASE_URL"] = postgres.create_database(DATABASE)
    if "REDIS_URL" not in urls:
        valkey = EmbeddedValkey(sockets, data_dir / "valkey.log")
        stack.callback(valkey.stop)
        valkey.start()
        started.append(valkey)
        urls["REDIS_URL"] = valkey.url
    return urls, started


def _service(data_dir: Path, port: int) -> dict[str, str]:
    """Return the rest of the service's environment; the secrets are made once for each data directory."""
    path = data_dir / "secrets.json"
    if not path.is_file():
        names = ("AGENT_FEEDBACK_KEY_PEPPER", "AGENT_FEEDBACK_SEALING_KEYS")
        demo.write_private(path, {name: DEVELOPMENT_PREFIX + secrets.token_urlsafe(32) for name in names})
    made: dict[str, str] = json.loads(path.read_text())
    return {
        **made,
        "AGENT_FEEDBACK_ENV": "development",
        "AGENT_FEEDBACK_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "AGENT_FEEDBACK_HOST": "127.0.0.1",
        "AGENT_FEEDBACK_DATA_DIR": str(data_dir),
        "PORT": str(port),
        # Celery warns of running as root, which a container or a fresh machine may well do.
        "PYTHONWARNINGS": "ignore::UserWarning:celery.platforms",
    }


def _wait_until_ready(url: str) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/readyz", timeout=3):
            return
        time.sleep(0.1)
    raise ServerFailed("the web process did not become ready; its output above says why")


def _welcome(credentials: dict[str, Any], data_dir: Path) -> str:
    event = {
        "interactionId": str(uuid4()),
        "surface": "http_json",
        "operation": "/orders/:id",
        "classification": "unclassified",
        "occurredAt": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return f"""
Agent Feedback is running. Ctrl-C ends it.

  dashboard     {credentials["baseUrl"]}/
  playground    {credentials["baseUrl"]}/playground
  API           {credentials["baseUrl"]}/docs
  login         {credentials["dashboard"]["email"]} / {credentials["dashboard"]["password"]}
  product key   {credentials["productKey"]}
  company key   {credentials["companyKey"]}
  product       {credentials["productId"]}
  environment   {credentials["environmentId"]}
  all of it     {data_dir / demo.CREDENTIALS}

Send a first telemetry event, then look at what is stored:

  curl {credentials["baseUrl"]}/api/v2/telemetry/batches \\
    -H 'Authorization: Bearer {credentials["productKey"]}' \\
    -d '{json.dumps({"events": [event]})}'

  {_flask(data_dir)} interaction show {event["interactionId"]} --environment {credentials["environmentId"]}
"""


def _flask(data_dir: Path) -> str:
    is_usual = data_dir == ROOT / ".data"
    return ("" if is_usual else f"AGENT_FEEDBACK_DATA_DIR='{data_dir}' ") + ".venv/bin/flask"


def _remove(sockets: Path) -> None:
    for path in sockets.iterdir():
        path.unlink()
    sockets.rmdir()


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    up()
