"""A developer installs the Node SDK from the service and runs an example of its README, and an agent reviews it."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from tests.conftest import ROOT
from tests.factories import Company
from tests.journeys.stack import Stack, free_port, url_answers, wait_until

README = ROOT / "sdk" / "node" / "README.md"
NOTE = "The order was complete, with its number."


@pytest.fixture
def project(stack: Stack, tmp_path: Path) -> Path:
    """Return a project that has installed the SDK from the service, and nothing else."""
    (tmp_path / "package.json").write_text('{"type": "module"}')
    integrations = requests.get(f"{stack.url}/.well-known/agent-feedback-v1.json", timeout=10).json()["integrations"]
    run(tmp_path, "npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", integrations["node"])
    return tmp_path


def run(folder: Path, *command: str) -> str:
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@contextmanager
def running_product(stack: Stack, company: Company, project: Path) -> Iterator[str]:
    """Run the README's product of `node:http` and yield its URL."""
    blocks = re.findall(r"```js\n(.*?)```", README.read_text(), re.DOTALL)
    port = str(free_port())
    code = next(block for block in blocks if "from 'node:http'" in block)
    (project / "product.js").write_text(code.replace("3000", port))
    variables = {"AGENT_FEEDBACK_KEY": company.product_key, "AGENT_FEEDBACK_URL": stack.url}
    with subprocess.Popen(["node", "product.js"], cwd=project, env={**os.environ, **variables}) as process:
        try:
            url = f"http://localhost:{port}"
            wait_until(lambda: url_answers(url), 30)
            yield url
        finally:
            process.terminate()


def test_an_agent_reviews_a_product_that_was_made_from_the_readme(stack: Stack, project: Path) -> None:
    company = stack.create_company()
    with running_product(stack, company, project) as url:
        review = ("--outcome", "success", "--note", NOTE, "--allow-origin", stack.url, "--yes")
        run(project, "npx", "--no", "--", "agent-feedback", "agent", "report", f"{url}/orders/42", *review)
        query = (
            "SELECT surface, operation, classification FROM interactions WHERE environment_id = %s AND operation = %s"
        )
        expected = [("http_json", "/orders/:id", "confirmed")]
        wait_until(lambda: stack.query(query, str(company.environment_id), "/orders/:id") == expected, 20)
    reviews = stack.query("SELECT outcome, note FROM reviews WHERE environment_id = %s", str(company.environment_id))
    assert reviews == [("success", NOTE)]
