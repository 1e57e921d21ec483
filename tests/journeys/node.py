"""Projects of Node that have installed the SDK from the service, as a developer does it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.conftest import ROOT
from tests.factories import Company
from tests.journeys.running import is_open
from tests.journeys.stack import BIN, Stack, free_port, wait_until

SDK = ROOT / "sdk" / "node"

PATH = f"{BIN}{os.pathsep}{os.environ['PATH']}"
"""bin/test-node puts Node beside the interpreter where the machine has none that is new enough."""

IS_NEW_ENOUGH = "process.exit(Number(process.versions.node.split('.')[0] < 20))"

INSTALL = (
    *("npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel", "error"),
    *("--fetch-retries", "1", "--fetch-timeout", "30000"),
)
TIMEOUT_S = 180

FRAMEWORKS = (
    *("express", "express4", "fastify", "hono", "@hono/node-server", "@modelcontextprotocol/sdk", "zod"),
    *("typescript", "@types/node"),
)
OTHER_PACKAGES = ("@types/express@5.0.6", "json-server@0.17.4")
"""Types for TypeScript, and a real product."""

IS_OFFLINE = re.compile(r"\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|ETIMEDOUT)\b")


@dataclass(frozen=True)
class NodeProject:
    """A folder with a package.json and the packages that were installed into it."""

    folder: Path

    def run(self, *command: str, **variables: str) -> str:
        """Run a command that has to succeed, and return what it printed."""
        environ = {**os.environ, "PATH": PATH, **variables}
        process = subprocess.run(
            command, cwd=self.folder, env=environ, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        assert process.returncode == 0, process.stdout + process.stderr
        return process.stdout

    def command(self, *words: str, **variables: str) -> str:
        """Run the SDK's command line, and return what it printed."""
        return self.run("node_modules/.bin/agent-feedback", *words, **variables)

    @contextmanager
    def running_product(self, code: str, variables: dict[str, str]) -> Iterator[str]:
        """Run a program that listens on port 3000, on another port, and yield its URL."""
        port = free_port()
        program = self.folder / f"product-{port}.js"
        assert "3000" in code
        program.write_text(code.replace("3000", str(port)))
        environ = {**os.environ, "PATH": PATH, **variables}
        with subprocess.Popen(["node", program.name], cwd=self.folder, env=environ) as process:
            try:
                wait_until(lambda: is_open(port), 30)
                yield f"http://localhost:{port}"
            finally:
                process.terminate()


def require_node() -> None:
    """Skip the test where npm with Node 20 or later is missing."""
    npm, node = shutil.which("npm", path=PATH), shutil.which("node", path=PATH)
    if not npm or not node or subprocess.run([node, "-e", IS_NEW_ENOUGH], timeout=30, check=False).returncode != 0:
        pytest.skip(
            "npm with Node 20 or later is not installed, and this journey needs a real one: bin/test-node installs it"
        )


def install(stack: Stack, folder: Path, *packages: str) -> NodeProject:
    """Return a project that has installed the SDK from the service, and these packages of npm's registry.

    The test is skipped where it needs the registry and that cannot be reached.
    """
    (folder / "package.json").write_text('{"type": "module"}')
    url = requests.get(f"{stack.url}/.well-known/agent-feedback-v1.json", timeout=10).json()["integrations"]["node"]
    project = NodeProject(folder)
    if packages:
        install_from_registry(project, packages)
    # npm's cache may hold what another service once sent from this port.
    project.run(*INSTALL, "--prefer-online", url)
    return project


def install_from_registry(project: NodeProject, packages: tuple[str, ...]) -> None:
    """Install packages of npm's registry, or skip the test where it cannot be reached."""
    try:
        project.run(*INSTALL, "--prefer-offline", *packages)
    except AssertionError as error:
        if IS_OFFLINE.search(str(error)):
            pytest.skip("npm's registry cannot be reached, and this journey needs packages of it")
        raise


def frameworks() -> list[str]:
    """Return the frameworks and the compiler, as npm installs them, in the versions with which the SDK is developed."""
    versions = json.loads((SDK / "package.json").read_text())["devDependencies"]
    return [f"{name}@{versions[name]}" for name in FRAMEWORKS]


def product_variables(stack: Stack, company: Company) -> dict[str, str]:
    """Return the environment of a company's product."""
    return {"AGENT_FEEDBACK_KEY": company.product_key, "AGENT_FEEDBACK_URL": stack.url}


def examples() -> list[str]:
    """Return the code of the README's examples."""
    return re.findall(r"```js\n(.*?)```", (SDK / "README.md").read_text(), re.DOTALL)


def example(part: str) -> str:
    """Return the first example that has this part."""
    return next(code for code in examples() if part in code)
