"""The SDK downloads, packed from `sdk/` on first use; every process of a release serves identical files."""

import json
from functools import cache
from pathlib import Path

from app.core.errors import NotFound
from app.discovery.packages import PACKERS, Download

RESERVED = {
    "go": "/sdk/agent-feedback-go.zip",
    "rust": "/sdk/agent-feedback-rust.crate",
}
"""The path that a language has in the discovery document while it has no SDK."""

LANGUAGES = ("node", "python", "go", "rust", "protocol")


class SdkNotPublished(NotFound):
    """The SDK of this language does not exist yet."""

    code = "sdk_not_published"
    sentence = "The SDK for this language is not published yet; the protocol archive describes how to write one."


@cache
def downloads() -> dict[str, Download]:
    """Return the downloads by language."""
    return {language: pack() for language, pack in PACKERS.items()}


def paths() -> dict[str, str]:
    """Return the path of each language's download; that of a language without an SDK is answered with 404."""
    published_paths = {language: f"/sdk/{download.name}" for language, download in downloads().items()}
    return {language: published_paths.get(language) or RESERVED[language] for language in LANGUAGES}


def get_download(name: str) -> Download:
    """Return a download by its name, or raise `SdkNotPublished` or `NotFound`."""
    for download in downloads().values():
        if download.name == name:
            return download
    unpublished_languages = RESERVED.keys() - downloads().keys()
    if f"/sdk/{name}" in {RESERVED[language] for language in unpublished_languages}:
        raise SdkNotPublished
    raise NotFound


@cache
def manifest() -> dict[str, str]:
    """Return the SHA-256 sum of each download, in hexadecimal."""
    return {download.name: download.sha256 for download in downloads().values()}


def write_all(folder: Path) -> list[Path]:
    """Write every download, manifest.json as it is served, and SHA256SUMS into a folder, and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {download.name: download.content for download in downloads().values()}
    contents["manifest.json"] = json.dumps({"files": manifest()}, indent=2).encode() + b"\n"
    contents["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in manifest().items()).encode()
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in contents]
