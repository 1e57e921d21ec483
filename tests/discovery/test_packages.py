"""What is packed for download: the same bytes wherever, and without the settings of a service."""

import hashlib
import io
import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.discovery import downloads as module
from app.discovery.packages import PACKERS, Download, pack_python, read_files, tar_gz
from tests.conftest import ROOT
from tests.journeys.stack import BIN

ELSEWHERE: list[dict[str, str]] = [
    {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    {"TZ": "America/Lima", "SOURCE_DATE_EPOCH": "1000000000"},
]


def build(folder: Path, umask: int, **variables: str) -> dict[str, bytes]:
    """Run `flask sdk build` with nothing of this process's environment, and return what it has written."""
    environ = {"PATH": f"{BIN}:/usr/bin:/bin", **variables}
    subprocess.run(
        [BIN / "flask", "sdk", "build", "--output", folder],
        cwd=ROOT,
        env=environ,
        umask=umask,
        capture_output=True,
        timeout=60,
        check=True,
    )
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_command_makes_the_served_bytes_anywhere_without_settings(tmp_path: Path, client: FlaskClient) -> None:
    files = build(tmp_path / "here", 0o077, **ELSEWHERE[0])
    assert build(tmp_path / "there", 0o000, **ELSEWHERE[1]) == files
    sums = json.loads(files.pop("manifest.json"))["files"]
    listed = dict(reversed(line.split("  ")) for line in files.pop("SHA256SUMS").decode().splitlines())
    assert sums == listed == client.get("/sdk/manifest.json").json["files"]
    assert sums.keys() == files.keys()
    for name, content in files.items():
        assert hashlib.sha256(content).hexdigest() == sums[name]
        assert client.get(f"/sdk/{name}").data == content


@pytest.mark.parametrize("pack", PACKERS.values(), ids=PACKERS.keys())
def test_packing_twice_makes_the_same_bytes(pack: Any) -> None:
    assert pack() == pack()


def test_the_wheel_has_the_licence_and_no_hidden_file() -> None:
    wheel = pack_python()
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
        assert archive.read(name) == (ROOT / "LICENSE").read_bytes()
        assert not [name for name in archive.namelist() if "/." in name or name.startswith(".")]


def test_hidden_files_and_caches_are_not_packed(tmp_path: Path) -> None:
    for name in ("a.json", ".DS_Store", "__pycache__/a.pyc", ".cache/b", "schemas/c.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert sorted(read_files(tmp_path)) == ["a.json", "schemas/c.json"]


def test_a_language_is_published_by_its_packer(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    node = Download("agent-feedback-9.9.9.tgz", tar_gz("package", {"package.json": b"{}"}))
    monkeypatch.setitem(PACKERS, "node", lambda: node)
    monkeypatch.setattr(module, "downloads", module.downloads.__wrapped__)
    monkeypatch.setattr(module, "manifest", module.manifest.__wrapped__)
    integrations = client.get("/.well-known/agent-feedback-v1.json").json["integrations"]
    assert integrations["node"].endswith("/sdk/agent-feedback-9.9.9.tgz")
    assert client.get("/sdk/agent-feedback-9.9.9.tgz").data == node.content
    assert node.name in client.get("/sdk/manifest.json").json["files"]
    assert client.get("/sdk/agent-feedback-node.tgz").json["code"] == "not_found"
    assert client.get("/sdk/agent-feedback-go.zip").json["code"] == "sdk_not_published"
