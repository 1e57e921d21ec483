"""`bin/dev`, as a newcomer uses it."""

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psutil
import psycopg2
import pytest
import requests
from agent_feedback.capability import ProductKey, mint

from config.settings import RUNNING_COPY
from tests.conftest import ROOT
from tests.factories import NOTE, bearer, event
from tests.journeys.stack import BIN, free_port, wait_until

ENDS_WITHIN_S = 10

LAST_LINE = "Each review that arrives"


@contextmanager
def bin_dev(*arguments: str, folder: Path, environ: dict[str, str] | None = None) -> Iterator["subprocess.Popen[str]"]:
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    with subprocess.Popen(
        [ROOT / "bin/dev", *arguments],
        cwd=folder,
        env={**environment, **(environ or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)


def read_until_ready(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    output = ""
    for line in process.stdout:
        output += line
        if line.startswith(LAST_LINE):
            return output
    raise AssertionError(output)


def credentials(data_dir: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((data_dir / "credentials.json").read_text())
    return content


def send(demo: dict[str, Any]) -> int:
    body = {"events": [event()]}
    url = demo["baseUrl"] + "/api/v2/telemetry/batches"
    return requests.post(url, json=body, headers=bearer(demo["productKey"]), timeout=10).status_code


def test_it_starts_says_what_a_newcomer_needs_and_ends_everything(tmp_path: Path) -> None:
    data_dir, port = tmp_path / "a data dir", free_port()
    with bin_dev("--port", str(port), "--data-dir", "a data dir", folder=tmp_path) as process:
        output = read_until_ready(process)
        demo = credentials(data_dir)
        assert set(demo) == {
            "baseUrl",
            "dashboard",
            "workspaceId",
            "productId",
            "environmentId",
            "productKey",
            "companyKey",
        }
        assert set(demo["dashboard"]) == {"email", "password"}
        assert demo["baseUrl"] == f"http://127.0.0.1:{port}"
        for text in (demo["dashboard"]["password"], "curl ", ".venv/bin/flask review list"):
            assert text in output
        _is_short(output, demo)
        assert (data_dir / "credentials.json").stat().st_mode & 0o077 == 0
        assert send(demo) == 202
        _sign_in(demo)
        wait_until(lambda: _count_products(data_dir) == 4, 30)
        _follow_the_advice(output, data_dir)
        _shows_a_review(process, demo)
        children = psutil.Process(process.pid).children(recursive=True)
        assert {"postgres", "valkey-server"} <= {child.name() for child in children}
        started_at = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        assert time.monotonic() - started_at < ENDS_WITHIN_S
        assert process.returncode == 0
        assert [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE] == []
    assert not (data_dir / "running.json").exists()
    _start_again(data_dir, demo)


def _sign_in(demo: dict[str, Any]) -> None:
    """Use the printed login, and look at the page that it opens and at the playground."""
    with requests.Session() as browser:
        response = browser.post(demo["baseUrl"] + "/api/session", json=demo["dashboard"], timeout=20)
        assert (response.status_code, response.json()["workspace"]["id"]) == (200, demo["workspaceId"])
        assert demo["environmentId"] in browser.get(demo["baseUrl"] + "/", timeout=10).text
    assert "One loop, step by step" in requests.get(demo["baseUrl"] + "/playground", timeout=10).text


def _count_products(data_dir: Path) -> int:
    """Return how many products both workspaces have: one's own, and those of the sample data once they are there."""
    environ = json.loads((data_dir / RUNNING_COPY).read_text())
    with closing(psycopg2.connect(environ["DATABASE_URL"])) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM products")
        (count,) = cursor.fetchone() or (0,)
        return int(count)


def _is_short(output: str, demo: dict[str, Any]) -> None:
    """Check that little comes before the URL, that a key can be copied by its line, and that the rest fits."""
    lines = output.splitlines()
    keys = {demo["productKey"], demo["companyKey"]}
    assert next(number for number, line in enumerate(lines) if demo["baseUrl"] in line) < 12
    assert keys <= {line.strip() for line in lines}
    assert [line for line in lines if len(line) > 80 and line.strip() not in keys and "a data dir" not in line] == []


def _follow_the_advice(output: str, data_dir: Path) -> None:
    """Run the printed curl and the printed look-up as they stand."""
    event = output[output.index("  KEY=") : output.index("Look at what")]
    response = subprocess.run(["bash", "-c", event], cwd=ROOT, capture_output=True, text=True, check=True, timeout=20)
    assert json.loads(response.stdout) == {"accepted": 1, "dropped": 0}
    look_up = output[output.index("  export AGENT") : output.index("  .venv/bin/flask review list")]

    def show_interaction() -> str:
        result = subprocess.run(
            ["bash", "-c", look_up], cwd=ROOT, capture_output=True, text=True, check=False, timeout=30
        )
        return result.stdout

    wait_until(lambda: "/orders/:id" in show_interaction(), 10)


def _shows_a_review(process: "subprocess.Popen[str]", demo: dict[str, Any]) -> None:
    """Send a review; it is a line of its own, and the request that brought it is none."""
    capability = mint(ProductKey(demo["productKey"]), str(uuid.uuid4()), int(time.time()))
    review = {"outcome": "partial", "note": NOTE}
    url = demo["baseUrl"] + "/api/v2/outcomes"
    assert requests.post(url, json=review, headers=bearer(capability), timeout=10).status_code == 200
    assert process.stdout
    assert process.stdout.readline().strip() == ""
    assert re.fullmatch(rf"\d\d:\d\d:\d\d  partial  .+  {re.escape(NOTE)}\n", process.stdout.readline())


def _start_again(data_dir: Path, demo: dict[str, Any]) -> None:
    """Start on the same data directory: the same keys work, and a second copy there is told so."""
    with bin_dev("--port", str(free_port()), "--data-dir", str(data_dir), folder=data_dir.parent) as process:
        read_until_ready(process)
        second_credentials = credentials(data_dir)
        assert second_credentials["productKey"] == demo["productKey"]
        assert send(second_credentials) == 202
        second = subprocess.run(
            [ROOT / "bin/dev", "--data-dir", data_dir], capture_output=True, text=True, timeout=60, check=False
        )
        assert second.returncode != 0
        assert "a copy is running" in second.stderr


def test_real_servers_are_used_when_they_are_named(tmp_path: Path, servers: Any) -> None:
    database_url = servers.database(f"named_{secrets.token_hex(4)}")
    environ = {
        "DATABASE_URL": database_url.replace("postgresql://", "postgres://"),
        "AGENT_FEEDBACK_MIGRATIONS_DATABASE_URL": servers.migrations_url(database_url),
        "REDIS_URL": servers.broker_url,
    }
    settings = {**environ, "AGENT_FEEDBACK_WEBHOOKS_ALLOW_PRIVATE": "true"}
    with bin_dev("--port", str(free_port()), "--data-dir", ".", folder=tmp_path, environ=settings) as process:
        read_until_ready(process)
        names = {child.name() for child in psutil.Process(process.pid).children(recursive=True)}
        assert not names & {"postgres", "valkey-server"}
        assert send(credentials(tmp_path)) == 202
        result = subprocess.run(
            [BIN / "flask", "key", "list", "--environment", credentials(tmp_path)["environmentId"], "--json"],
            cwd=ROOT,
            env={**os.environ, **environ, "AGENT_FEEDBACK_DATA_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
            timeout=30,
        )
        assert len(json.loads(result.stdout)) == 2
        _create_a_private_webhook(tmp_path)


def _create_a_private_webhook(data_dir: Path) -> None:
    """Run a command in a shell without the settings that `bin/dev` was given."""
    command = [BIN / "flask", "webhook", "create", "--environment", credentials(data_dir)["environmentId"]]
    command += ["--url", "http://127.0.0.1:9/hook", "--event", "review.created"]
    environ = {**os.environ, "AGENT_FEEDBACK_DATA_DIR": str(data_dir)}
    subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=True, timeout=30)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_ordinary_user_can_run_it_too(tmp_path: Path) -> None:
    checkout = Path("/tmp") / f"agent feedback {tmp_path.name}"
    names = ("app", "bin", "config", "migrations", "sdk", "workers", "Procfile", "wsgi.py")
    checkout.mkdir(mode=0o755)
    try:
        for name in names:
            source = ROOT / name
            copy = shutil.copytree if source.is_dir() else shutil.copy
            copy(source, checkout / name)
        subprocess.run(["chown", "-R", "nobody", checkout], check=True)
        # The checkout's own environment is not readable to everybody; the interpreter and its packages are used.
        command = f"cd '{checkout}' && exec '{BIN}/python' -m app.cli.dev --port {free_port()}"
        setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=+dac_read_search"]
        setpriv += ["--ambient-caps=+dac_read_search", "--securebits=+no_setuid_fixup", "bash", "-c", command]
        process = subprocess.Popen(setpriv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            read_until_ready(process)
            assert send(credentials(checkout / ".data")) == 202
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)
    finally:
        shutil.rmtree(checkout)


def test_it_recovers_from_killed_servers_and_supervisor_and_replaces_a_revoked_demo_key(tmp_path: Path) -> None:
    with bin_dev("--port", str(free_port()), "--data-dir", ".", folder=tmp_path) as process:
        read_until_ready(process)
        demo = credentials(tmp_path)
        _kill_servers(process, demo)
        environ = {**os.environ, "AGENT_FEEDBACK_DATA_DIR": str(tmp_path)}
        revoke = [BIN / "flask", "key", "revoke", demo["productKey"].split("_")[2]]
        subprocess.run(revoke, cwd=ROOT, env=environ, check=True, capture_output=True, timeout=30)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        psutil.wait_procs(children, timeout=10)
        assert [child.name() for child in children if child.is_running()] == []
    with bin_dev("--port", str(free_port()), "--data-dir", ".", folder=tmp_path) as process:
        read_until_ready(process)
        second_credentials = credentials(tmp_path)
        assert second_credentials["productKey"] != demo["productKey"]
        assert send(second_credentials) == 202


def _kill_servers(process: "subprocess.Popen[str]", demo: dict[str, Any]) -> None:
    """Kill PostgreSQL and Valkey, and wait until they are started again."""
    for child in psutil.Process(process.pid).children():
        if child.name() in ("postgres", "valkey-server"):
            child.kill()
    wait_until(lambda: requests.get(demo["baseUrl"] + "/readyz", timeout=5).status_code == 200, 30)
    assert send(demo) == 202
