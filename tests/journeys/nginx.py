"""Debian's nginx as an ordinary process, with a folder, a port and a log of its own."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.journeys.stack import free_port, wait_until

CONFIG = """
daemon off;
{user}
pid nginx.pid;
error_log error.log notice;
events {{}}
http {{
    {formats}
    access_log access.log combined;
    access_log access.json.log evidence;
    default_type text/html;
    client_body_temp_path temp;
    proxy_temp_path temp;
    fastcgi_temp_path temp;
    uwsgi_temp_path temp;
    scgi_temp_path temp;
    set_real_ip_from 127.0.0.1;
    real_ip_header X-Forwarded-For;
    server {{
        listen 127.0.0.1:{port};
        root site;
    }}
}}
"""

DOCUMENTED_FORMAT = re.compile(r"^```nginx\n(.+?)^```", re.MULTILINE | re.DOTALL)

# The workers of a root's nginx are nobody, who may not enter a folder of root's tests.
ROOT_STAYS_ROOT = "user root;"

FAR_EAST = "XST-13"
"""The log is in the machine's time, whose day is mostly another one than in UTC."""


@dataclass(frozen=True)
class Nginx:
    """A running nginx; it takes the visitor's address from who stands before it, as behind a load balancer."""

    url: str
    folder: Path
    command: list[str]

    @property
    def log(self) -> Path:
        return self.folder / "access.log"

    @property
    def json_log(self) -> Path:
        return self.folder / "access.json.log"

    @property
    def rotated_log(self) -> Path:
        return self.folder / "access.log.1"

    def lines(self) -> list[str]:
        """Return what it has written, the rotated log first."""
        return [line for log in (self.rotated_log, self.log) if log.exists() for line in log.read_text().splitlines()]

    def rename_log(self) -> None:
        """Do the first half of a rotation, after which it still writes to the renamed log."""
        self.log.rename(self.rotated_log)

    def reopen(self) -> None:
        """Do the second half, and wait until there is a new log."""
        subprocess.run([*self.command, "-s", "reopen"], check=True, timeout=30, capture_output=True)
        wait_until(self.log.exists, 30)


def binary() -> str:
    """Return nginx, or skip where there is none; Debian keeps it where only root looks."""
    program = shutil.which(
        "nginx", path=f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin{os.pathsep}/usr/local/sbin"
    )
    if not program:
        pytest.skip("nginx is not installed, and this journey needs a real one: apt-get install nginx")
    return program


@contextmanager
def running_nginx(folder: Path, pages: dict[str, str]) -> Iterator[Nginx]:
    """Serve some pages, and end it."""
    port = free_port()
    (folder / "temp").mkdir(parents=True)
    (folder / "site").mkdir()
    for name, content in pages.items():
        (folder / "site" / name).write_text(content)
    with running_process(folder, _config(port), {**os.environ, "TZ": FAR_EAST}) as command:
        yield Nginx(f"http://127.0.0.1:{port}", folder, command)


@contextmanager
def running_process(folder: Path, config: str, environ: dict[str, str]) -> Iterator[list[str]]:
    """Run nginx in a folder; yields its command."""
    (folder / "nginx.conf").write_text(config)
    command = [binary(), "-p", f"{folder}/", "-c", "nginx.conf", "-e", "error.log"]
    with subprocess.Popen(command, env=environ, stdin=subprocess.DEVNULL) as process:
        try:
            pid = folder / "nginx.pid"
            wait_until(lambda: process.poll() is not None or (pid.exists() and pid.read_text().strip()), 30)
            assert process.poll() is None, (folder / "error.log").read_text()
            yield command
        finally:
            process.terminate()


def _config(port: int) -> str:
    match = DOCUMENTED_FORMAT.search((ROOT / "docs" / "exporter.md").read_text())
    assert match
    return CONFIG.format(port=port, user=user_line(), formats=match[1])


def user_line() -> str:
    """Return what the configuration says about the user of nginx's workers."""
    return ROOT_STAYS_ROOT if os.geteuid() == 0 else ""
