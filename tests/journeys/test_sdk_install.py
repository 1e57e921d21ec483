"""A developer installs the Python SDK from the service and runs the first example of its README."""

import os
import re
import subprocess
import sys
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
import requests

from tests.conftest import ROOT
from tests.journeys.stack import Stack, wait_until

README = ROOT / "sdk" / "python" / "README.md"
FLASK = ("flask", "werkzeug", "jinja2", "markupsafe", "itsdangerous", "click", "blinker")
"""Flask and what it needs: a product has its framework before it has the SDK."""

USE = """
from agent_feedback.agent import from_response

response = app.test_client().get("/orders")
received = from_response(response.json, allowed_origins=["%(url)s"])
print(received.submit_outcome("success", "The list of orders was complete.")["accepted"])
"""


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """Return the interpreter of an empty environment."""
    venv.create(tmp_path / "fresh", with_pip=False)
    return tmp_path / "fresh" / "bin" / "python"


def run(*command: str | Path, folder: Path, **variables: str) -> str:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP"))}
    process = subprocess.run(
        command, cwd=folder, env={**environ, **variables}, capture_output=True, text=True, timeout=60, check=False
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_the_first_example_runs_with_what_pip_installs_from_the_service(
    stack: Stack, python: Path, tmp_path: Path
) -> None:
    company = stack.create_company()
    integrations = requests.get(f"{stack.url}/.well-known/agent-feedback-v1.json", timeout=10).json()["integrations"]
    install = ["-m", "pip", "--python", str(python), "install", "-q", "--no-index", "--no-cache-dir"]
    run(sys.executable, *install, integrations["python"], folder=tmp_path)
    example = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert example
    (tmp_path / "shop.py").write_text(example[1] + USE % {"url": stack.url})
    variables = {"AGENT_FEEDBACK_KEY": company.product_key, "AGENT_FEEDBACK_URL": stack.url}
    framework = str(_link_flask(tmp_path / "framework"))
    assert run(python, "shop.py", folder=tmp_path, PYTHONPATH=framework, **variables) == "True"
    query = "SELECT surface, operation FROM interactions WHERE environment_id = %s"
    wait_until(lambda: stack.query(query, str(company.environment_id)) == [("http_json", "/orders")], 20)


def _link_flask(folder: Path) -> Path:
    """Make a folder that has Flask and nothing else."""
    folder.mkdir()
    for name in FLASK:
        site_packages = Path(str(distribution(name).locate_file("")))
        for path in (site_packages / name, *site_packages.glob(f"{name}-*.dist-info")):
            (folder / path.name).symlink_to(path)
    return folder
