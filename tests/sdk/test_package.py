"""What the package is made of, and that it installs from the file that the service hands out."""

import ast
import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import agent_feedback
import pytest

from app.discovery.downloads import Download, downloads
from tests.sdk.endpoint import KEY
from tests.sdk.evidence_logs import combined_line

PACKAGE = Path(__file__).resolve().parents[2] / "sdk" / "python"
SOURCES = sorted((PACKAGE / "src").rglob("*.py"))

EXTRAS = {"mcp": {"mcp", "anyio", "pydantic"}, "mcp_server": {"mcp"}}
"""What a folder or a module may import that nothing else does: the official SDK of MCP, and what it stands on."""

UNUSED_MODULES = {
    *("agent_feedback.agent", "agent_feedback.cli", "agent_feedback.evidence", "agent_feedback.mcp"),
    *("anyio", "argparse", "asyncio", "concurrent.futures", "http.server", "mcp", "pydantic"),
}
"""What only some of the products use; each of them would make every product start later."""

INSTALLED = f"""
import json
from agent_feedback import AgentFeedback
from agent_feedback.agent import from_response
envelope = AgentFeedback("{KEY}", endpoint="https://feedback.example.com").start("/orders").envelope()
assert from_response({{"_agentFeedback": envelope}}, allowed_origins=[]).state == "feedback_ready"
print(json.dumps(envelope))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    download: Download = downloads()["python"]
    path = tmp_path_factory.mktemp("wheel") / download.name
    path.write_bytes(download.content)
    return path


def imported(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module or ""


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 10


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_only_the_standard_library_is_imported(source: Path) -> None:
    packages = {name.split(".")[0] for name in imported(source)}
    extra = EXTRAS.get(source.parent.name) or EXTRAS.get(source.stem) or set()
    assert packages <= sys.stdlib_module_names | {"agent_feedback"} | extra


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.name)
def test_a_file_is_under_300_lines_and_readable_by_python_3_10(source: Path) -> None:
    assert len(source.read_text().splitlines()) < 300
    ast.parse(source.read_text(), feature_version=(3, 10))


def test_importing_the_library_imports_neither_its_extras_nor_a_framework() -> None:
    code = "import sys, agent_feedback; print(*sorted(sys.modules))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    modules = set(process.stdout.split())
    assert "agent_feedback.client" in modules
    assert not modules & UNUSED_MODULES


def test_the_version_is_that_of_the_project_file() -> None:
    assert f'version = "{agent_feedback.__version__}"' in (PACKAGE / "pyproject.toml").read_text()


def test_the_wheel_holds_the_protocol_and_needs_nothing(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"agent_feedback-{agent_feedback.__version__}.dist-info/METADATA").decode()
        for name in ("allowlist.json", "contract.json", "errors.json", "instructions.json"):
            packed_file = json.loads(archive.read(f"agent_feedback/protocol/{name}"))
            assert packed_file == json.loads((PACKAGE.parent / "protocol" / name).read_text())
    assert "agent_feedback/py.typed" in names
    assert "agent_feedback/evidence/cli.py" in names
    assert not any(name.endswith(".pyc") or "/vectors/" in name for name in names)
    requirements = [line for line in metadata.splitlines() if line.startswith("Requires-Dist:")]
    assert requirements == ['Requires-Dist: mcp>=2.3,<3 ; extra == "mcp"']
    assert "Provides-Extra: evidence" in metadata
    assert "Requires-Python: >=3.10" in metadata


def test_the_wheel_installs_without_a_network_and_works(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "fresh", with_pip=False)
    python = tmp_path / "fresh" / "bin" / "python"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP"))}
    install = ["-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, *install], check=True, timeout=60, env=environment)
    result = subprocess.run(
        [python, "-I", "-W", "error", "-c", INSTALLED],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    log = tmp_path / "access.log"
    log.write_text(combined_line())
    command = [python.parent / "agent-feedback", "evidence", "ship", "--dry-run", log]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=True)
    assert json.loads(process.stdout)["events"][0]["agentToken"] == "GPTBot"
    assert json.loads(result.stdout)["submitOutcome"]["url"] == "https://feedback.example.com/api/v2/outcomes"
