"""`flask export`: write what an environment has into files."""

import sys
import uuid
from pathlib import Path

import click
import orjson

from app.cli.folder import Folder
from app.cli.output import Since, read_instant
from app.core.errors import ApiError
from app.exports import service
from app.exports.files import Format
from app.exports.service import Export


@click.command("export")
@click.option("--environment", "environment_id", type=click.UUID, required=True)
@click.option("--since", type=Since(), help="A date, an instant or such as 30d; else everything that is kept.")
@click.option("--format", "format_", type=click.Choice([str(format_) for format_ in Format]), default="ndjson")
@click.option("--to", "folder", type=Folder(), required=True)
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
def export(environment_id: uuid.UUID, since: str | None, format_: str, folder: Path, as_json: bool) -> None:
    """Write interactions, reviews, reports, decisions, outcomes and evidence counts of an environment into files.

    A run that was interrupted is continued by the same command, and so is one that has ended: it adds what is new.
    """
    since_at = read_instant(since) if since else None
    try:
        counts = service.run(Export(environment_id, Format(format_), folder, since, since_at), _progress)
    except ApiError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{error.filename or folder}: {error.strerror or error}.") from None
    finally:
        _end_progress()
    summary = {"rows": counts, "directory": str(folder)}
    click.echo(orjson.dumps(summary) if as_json else _sentence(counts, folder))


def _progress(name: str, row_count: int) -> None:
    """Show on a terminal how far the export is."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{name.replace('_', ' ')}: {row_count:,}")
        sys.stderr.flush()


def _end_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def _sentence(counts: dict[str, int], folder: Path) -> str:
    parts = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items()]
    return f"Exported {', '.join(parts[:-1])} and {parts[-1]} to {folder}."
