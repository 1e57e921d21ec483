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


def _environ(minor: int) -> dict[str, str]:
    # pyenv, where it is used, runs the version that this names.
    return {**os.environ, "PYENV_VERSION": f"3.{minor}", "PYTHONPATH": str(PROJECT.parent / "src")}


def _is_installed(minor: int) -> bool:
    python = shutil.which(f"python3.{minor}")
    if python is None:
        return False
    process = subprocess.run([python, "-V"], env=_environ(minor), capture_output=True, timeout=30, check=False)
    return process.returncode == 0


@pytest.mark.parametrize("minor", [minor for minor in MINORS if _is_installed(minor)])
def test_the_library_works_without_a_warning(endpoint: Endpoint, minor: int) -> None:
    endpoint.default_reply = Reply(200, json.dumps(ANSWER).encode())
    process = subprocess.run(
        [f"python3.{minor}", "-W", "error", CHECK, endpoint.url],
        env=_environ(minor),
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


def test_the_versions_are_those_of_the_project_file() -> None:
    text = PROJECT.read_text()
    assert f'requires-python = ">=3.{MINORS.start}"' in text
    for minor in MINORS:
        assert f'"Programming Language :: Python :: 3.{minor}"' in text
