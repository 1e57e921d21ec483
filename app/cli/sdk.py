"""Building what the service hands out."""

from pathlib import Path

import click

from app.cli.output import Row, command
from app.discovery import downloads

group = click.Group("sdk", help="The SDKs and the protocol archive.")


@command(group, "build")
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=Path("sdk/dist"), show_default=True)
def build(output: Path) -> Row:
    """Write every download and its SHA-256 sum into a folder."""
    return {path.name: str(path) for path in downloads.write_all(output)}
