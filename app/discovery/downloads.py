"""The SDK downloads, built from `sdk/` on first use; every process of a release builds identical files."""

import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from flit_core.wheel import make_wheel_in

from app.core import protocol
from app.core.errors import NotFound

UNPUBLISHED = {
    "go": "/sdk/agent-feedback-go.zip",
    "rust": "/sdk/agent-feedback-rust.crate",
}
"""The addresses reserved for languages without an SDK."""

MODIFICATION_TIME = 1_577_836_800
"""The modification time of every packed file, 2020-01-01 in UTC, so that equal files make equal archives."""

PROTOCOL_ARCHIVE = "agent-feedback-protocol-1.tar.gz"


class SdkNotPublished(NotFound):
    """The SDK of this language does not exist yet."""

    code = "sdk_not_published"
    sentence = "The SDK for this language is not published yet; the protocol archive describes how to write one."


class Download(NamedTuple):
    """One file for download."""

    name: str
    content: bytes
    sha256: str


@cache
def downloads() -> dict[str, Download]:
    """Return the downloads by language."""
    return {"python": _python_wheel(), "node": _node_tarball(), "protocol": _protocol_archive()}


def paths() -> dict[str, str]:
    """Return the path of each language's download."""
    published_paths = {language: f"/sdk/{download.name}" for language, download in downloads().items()}
    return {
        language: {**UNPUBLISHED, **published_paths}[language]
        for language in ("node", "python", "go", "rust", "protocol")
    }


def get_download(name: str) -> Download:
    """Return a download by its name, or raise `SdkNotPublished` or `NotFound`."""
    for download in downloads().values():
        if download.name == name:
            return download
    if f"/sdk/{name}" in UNPUBLISHED.values():
        raise SdkNotPublished
    raise NotFound


def manifest() -> dict[str, str]:
    """Return the SHA-256 sum of each download, in hexadecimal."""
    return {download.name: download.sha256 for download in downloads().values()}


def write_all(folder: Path) -> list[Path]:
    """Write every download and SHA256SUMS into a folder, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    for download in downloads().values():
        (folder / download.name).write_bytes(download.content)
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(f"{digest}  {name}\n" for name, digest in manifest().items()))
    return [*(folder / download.name for download in downloads().values()), sums]


def _download(name: str, content: bytes) -> Download:
    return Download(name, content, hashlib.sha256(content).hexdigest())


# The vectors are for whoever writes an SDK; the library reads none of them.
_UNPACKED = shutil.ignore_patterns("__pycache__", "*.egg-info", "vectors")


def _python_wheel() -> Download:
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "python"
        # The package links to the protocol folder; a copy follows the link.
        shutil.copytree(protocol.SDK / "python", source, ignore=_UNPACKED)
        for path in source.rglob("*"):
            os.utime(path, (MODIFICATION_TIME, MODIFICATION_TIME))
        wheel = make_wheel_in(source / "pyproject.toml", Path(scratch)).file
        return _download(wheel.name, wheel.read_bytes())


def _node_tarball() -> Download:
    folder = protocol.SDK / "node"
    manifest = json.loads((folder / "package.json").read_text())
    paths = [path for part in ("src", "types") for path in (folder / part).rglob("*") if path.is_file()]
    paths += [folder / name for name in ("package.json", "README.md", "LICENSE")]
    files = {str(path.relative_to(folder)): path for path in paths}
    # In a checkout `protocol` is a link. The vectors are for whoever writes an SDK.
    for pattern in ("*.json", "schemas/*.json"):
        files |= {f"protocol/{path.relative_to(protocol.FOLDER)}": path for path in protocol.FOLDER.glob(pattern)}
    return _download(f"{manifest['name']}-{manifest['version']}.tgz", _tar_gz("package", files))


def _protocol_archive() -> Download:
    paths = {str(path.relative_to(protocol.FOLDER)): path for path in protocol.FOLDER.rglob("*") if path.is_file()}
    paths["LICENSE"] = protocol.SDK.parent / "LICENSE"
    return _download(PROTOCOL_ARCHIVE, _tar_gz("agent-feedback-protocol", paths))


def _tar_gz(root: str, paths: Mapping[str, Path]) -> bytes:
    """Return a compressed archive of files below a folder `root`, without times and owners."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for name, path in sorted(paths.items()):
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))
    return buffer.getvalue()
