"""Debian's PgBouncer in transaction mode, as an ordinary process before a test's PostgreSQL."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy.engine import make_url

from app.cli.dev.postgres import NOBODY
from app.cli.dev.server_process import socket_folder
from tests.journeys.stack import wait_until

PORT = 6432
"""Only a part of the name of its socket."""

CONFIG = """
[databases]
{database} = {server}

[pgbouncer]
pool_mode = transaction
default_pool_size = {pool_size}
max_client_conn = 500
server_login_retry = 1
unix_socket_dir = {folder}
listen_port = {port}
auth_type = any
{user}
"""


@dataclass(frozen=True)
class PgBouncer:
    """A running PgBouncer."""

    url: str
    """The database through it."""
    process: "subprocess.Popen[bytes]"


def binary() -> str:
    """Return PgBouncer, or skip where there is none; Debian keeps it where only root looks."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin")
    if not program:
        pytest.skip("PgBouncer is not installed, and this needs a real one: apt-get install pgbouncer")
    return program


@contextmanager
def running_pgbouncer(database_url: str, log: Path, pool_size: int = 3) -> Iterator[PgBouncer]:
    """Run PgBouncer before a database, with so many connections to the server."""
    program, folder = binary(), socket_folder()
    url = make_url(database_url)
    config = folder / "pgbouncer.ini"
    config.write_text(
        CONFIG.format(
            database=url.database,
            server=_server(database_url),
            pool_size=pool_size,
            folder=folder,
            port=PORT,
            # It refuses to run as root.
            user="user = nobody" if os.geteuid() == 0 else "",
        )
    )
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
        os.chown(config, NOBODY, NOBODY)
    pooler_url = f"postgresql://anybody@/{url.database}?host={folder}&port={PORT}"
    try:
        with (
            log.open("wb") as output,
            subprocess.Popen([program, "--quiet", config], stdout=output, stderr=output, cwd="/") as process,
        ):
            try:
                wait_until(lambda: process.poll() is not None or (folder / f".s.PGSQL.{PORT}").exists(), 10)
                assert process.poll() is None, log.read_text()
                psycopg2.connect(pooler_url).close()
                yield PgBouncer(pooler_url, process)
            finally:
                process.kill()
    finally:
        shutil.rmtree(folder)


def _server(database_url: str) -> str:
    """Return a URL as PgBouncer spells it."""
    url = make_url(database_url)
    values = {
        "host": url.host or url.query.get("host"),
        "port": url.port,
        "dbname": url.database,
        "user": url.username,
        "password": url.password,
    }
    return " ".join(f"{name}='{value}'" for name, value in values.items() if value)
