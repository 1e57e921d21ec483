"""Pack the downloads: the SDK of each language that is published, and the protocol.

The same files make the same bytes, whatever the time zone, the umask and the locale of who packs them.
"""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from flit_core.wheel import WheelBuilder

from app.core import protocol

PACKING_TIME = (2020, 1, 1, 0, 0, 0)
"""The modification time of every file in a wheel; a zip archive knows no time zone."""

PROTOCOL_ARCHIVE = "agent-feedback-protocol-1.tar.gz"

_LICENSE = protocol.SDK.parent / "LICENSE"


class Download(NamedTuple):
    """One file for download."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """The SHA-256 sum in hexadecimal."""
        return hashlib.sha256(self.content).hexdigest()


def pack_python() -> Download:
    """Return the wheel of the Python SDK."""
    content = io.BytesIO()
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "python"
        # The package links to the protocol folder; a copy follows the link. The vectors are for whoever writes an SDK.
        shutil.copytree(
            protocol.SDK / "python",
            source,
            ignore=shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "vectors", "conformance"),
        )
        shutil.copy(_LICENSE, source)
        builder = WheelBuilder.from_ini_path(source / "pyproject.toml", content)
        builder.source_time_stamp = PACKING_TIME
        builder.build()
    return Download(builder.wheel_filename, content.getvalue())


def pack_node() -> Download:
    """Return the tarball of the Node SDK, with the types that are committed beside its sources."""
    folder = protocol.SDK / "node"
    manifest = json.loads((folder / "package.json").read_text())
    files = {name: (folder / name).read_bytes() for name in ("package.json", "README.md", "LICENSE")}
    for part in ("src", "types"):
        files |= {f"{part}/{name}": content for name, content in read_files(folder / part).items()}
    # In a checkout `protocol` is a link. The vectors are for whoever writes an SDK.
    for pattern in ("*.json", "schemas/*.json"):
        paths = protocol.FOLDER.glob(pattern)
        files |= {f"protocol/{path.relative_to(protocol.FOLDER).as_posix()}": path.read_bytes() for path in paths}
    return Download(f"{manifest['name']}-{manifest['version']}.tgz", tar_gz("package", files))


def pack_protocol() -> Download:
    """Return the archive of the protocol."""
    files = {**read_files(protocol.FOLDER), "LICENSE": _LICENSE.read_bytes()}
    return Download(PROTOCOL_ARCHIVE, tar_gz("agent-feedback-protocol", files))


PACKERS: Mapping[str, Callable[[], Download]] = {
    "python": pack_python,
    "node": pack_node,
    "protocol": pack_protocol,
}
"""The published downloads by language."""


def read_files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder by their path, without hidden files and caches."""
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {
        name: path.read_bytes()
        for name, path in files.items()
        if not any(part.startswith((".", "__pycache__")) for part in name.split("/"))
    }


def tar_gz(root: str, files: Mapping[str, bytes]) -> bytes:
    """Return a compressed archive of files below a folder `root`, without times, owners and modes of their own."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as stream, tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in sorted(files.items()):
            member = tarfile.TarInfo(f"{root}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()
