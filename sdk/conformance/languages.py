"""The languages under test, as a TOML file lists them."""

import subprocess
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).resolve().parent
OWN_LANGUAGES = FOLDER / "languages.toml"

BUILD_TIMEOUT_S = 600

_MEMBERS = {"build", "products", "agent", "mcp", "folder"}

Command = Sequence[str]


class UnusableFile(Exception):
    """The file of languages cannot be used."""


class Language(NamedTuple):
    """One language: how its programs are built and started."""

    name: str
    folder: Path
    """Where its commands run."""
    products: dict[str, Command]
    build: Command = ()
    agent: Command = ()
    mcp: Command = ()


class Program(NamedTuple):
    """One program of a language: a product with its adapter, the agent or the MCP server."""

    language: Language
    name: str
    command: Command

    def __str__(self) -> str:
        return f"{self.language.name} {self.name}"


def read_languages(path: Path, names: Sequence[str]) -> list[Language]:
    """Return the languages of a file with these names, all of them without names, or raise `UnusableFile`."""
    try:
        tables = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise UnusableFile(f"{path}: {error}") from None
    unknown_names = [name for name in names if name not in tables]
    if unknown_names:
        raise UnusableFile(f"{path} has no {', '.join(unknown_names)}; it has {', '.join(tables)}")
    return [_read_language(path, name, table) for name, table in tables.items() if not names or name in names]


def _read_language(path: Path, name: str, table: Any) -> Language:
    if not isinstance(table, dict) or not isinstance(table.get("products", {}), dict):
        raise UnusableFile(f"{path}: {name} is a table, and its products too")
    unknown_members = sorted(table.keys() - _MEMBERS)
    if unknown_members:
        raise UnusableFile(f"{path}: {name} has an unknown {', '.join(unknown_members)}")
    products = table.get("products", {})
    commands = {member: table.get(member, []) for member in ("build", "agent", "mcp")}
    for command in (*commands.values(), *products.values()):
        if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
            raise UnusableFile(f"{path}: the commands of {name} are lists of words")
    # Beside the suite are the languages of this repository; others say where they are.
    folder = path.parent / table["folder"] if "folder" in table else FOLDER.parent / name
    if not folder.is_dir():
        raise UnusableFile(f"{path}: the folder of {name}, {folder}, does not exist")
    return Language(name, folder.resolve(), products, **commands)


def programs(languages: Iterable[Language], kind: str) -> list[Program]:
    """Return the programs of a kind: `product`, `agent` or `mcp`."""
    if kind == "product":
        return [
            Program(language, name, command) for language in languages for name, command in language.products.items()
        ]
    return [Program(language, kind, command) for language in languages if (command := getattr(language, kind))]


def build(language: Language, environ: dict[str, str]) -> None:
    """Run the language's build command, or raise `UnusableFile` with the end of its output."""
    if not language.build:
        return
    try:
        result = subprocess.run(
            language.build,
            cwd=language.folder,
            env=environ,
            timeout=BUILD_TIMEOUT_S,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnusableFile(f"{language.name} could not be built: {error}") from None
    if result.returncode != 0:
        raise UnusableFile(f"{language.name} could not be built:\n{result.stdout[-4000:]}")
