"""`flask sdk`: build the downloads and the JSON Schemas."""

import json
from pathlib import Path

import click

from app.cli.folder import Folder
from app.cli.output import Row, command
from app.cli.wire import wire_schemas
from app.core import protocol
from app.discovery import downloads

group = click.Group("sdk")


@command(group, "build", needs_settings=False)
@click.option("--output", type=Folder(), default=Path("sdk/dist"), show_default=True)
def build(output: Path) -> Row:
    """Write every download, manifest.json and SHA256SUMS into a folder.

    The same release always makes the same bytes. Needs neither settings nor a database.
    """
    return {path.name: str(path) for path in downloads.write_all(output)}


@command(group, "schemas", needs_settings=False)
@click.option(
    "--output",
    type=Folder(),
    default=protocol.FOLDER / "schemas",
    help="[default: sdk/protocol/schemas]",
)
def schemas(output: Path) -> Row:
    """Write the JSON Schemas of all request and response bodies; a test fails while they are outdated."""
    output.mkdir(parents=True, exist_ok=True)
    paths = {}
    for name, schema in wire_schemas().items():
        path = output / f"{name}.json"
        path.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        paths[name] = str(path)
    return paths
