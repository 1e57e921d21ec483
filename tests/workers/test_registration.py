"""Every job can be run, and is run wherever the worker is started."""

import json
import os
import re
import subprocess
import sys

import pytest

from app.cli.dev.supervisor import read_procfile
from app.core.jobs import QUEUES, Job
from tests.conftest import ROOT, Servers, environment

PROGRAM = """
import json
from workers.celery import app
app.loader.import_default_modules()
print(json.dumps(sorted(name for name in app.tasks if not name.startswith("celery."))))
"""


def test_every_job_is_registered() -> None:
    # It connects to nothing.
    servers = Servers("", "redis://127.0.0.1:1/0")
    environ = {**os.environ, **environment(servers, "postgresql://127.0.0.1:1/x")}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environ, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(result.stdout) == sorted(Job)


def test_the_worker_of_the_procfile_consumes_every_queue() -> None:
    command = read_procfile(ROOT / "Procfile")["worker"]
    assert set(command[command.index("--queues") + 1].split(",")) == set(QUEUES.values())


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_systemd_unit_starts_what_the_procfile_starts(name: str) -> None:
    unit = (ROOT / f"deploy/systemd/agent-feedback-{name}@.service").read_text()
    commands = re.findall(r"^ExecStart=/srv/agent-feedback/%i/\.venv/bin/(.*)$", unit, re.MULTILINE)
    assert commands == [" ".join(read_procfile(ROOT / "Procfile")[name])]
