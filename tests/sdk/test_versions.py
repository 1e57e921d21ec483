"""The library works with every Python that it claims, as far as this machine has it."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import agent_feedback
import pytest

from tests.sdk.endpoint import Endpoint, Reply
from tests.sdk.version_check import ANSWER

PROJECT = Path(agent_feedback.__file__).resolve().parents[2] / "pyproject.toml"
CHECK = Path(__file__).with_name("version_check.py")
MINORS = range(10, 15)


@pytest.mark.parametrize("minor", MINORS)
def test_the_library_works_without_a_warning(endpoint: Endpoint, minor: int) -> None:
    # pyenv, where it is used, runs the version that this names.
    environ = {**os.environ, "PYENV_VERSION": f"3.{minor}", "PYTHONPATH": str(PROJECT.parent / "src")}
    python = shutil.which(f"python3.{minor}")
    if python is None or _fails(python, environ):
        pytest.skip(f"there is no Python 3.{minor} here")
    endpoint.default_reply = Reply(200, json.dumps(ANSWER).encode())
    process = subprocess.run(
        [python, "-W", "error", CHECK, endpoint.url],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    result = json.loads(process.stdout)
    assert result["version"] == [3, minor]
    assert result["modules"] > 50
    assert {request.path for request in endpoint.requests} == {
        "/api/v2/outcomes",
        "/api/v2/customer-context",
        "/api/v2/telemetry/batches",
    }


def _fails(python: str, environ: dict[str, str]) -> bool:
    command = [python, "-V"]
    return subprocess.run(command, env=environ, capture_output=True, timeout=30, check=False).returncode != 0


def test_the_versions_are_those_of_the_project_file() -> None:
    text = PROJECT.read_text()
    assert f'requires-python = ">=3.{MINORS.start}"' in text
    for minor in MINORS:
        assert f'"Programming Language :: Python :: 3.{minor}"' in text
