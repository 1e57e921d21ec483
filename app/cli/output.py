"""The decorator of commands: one transaction, errors in one sentence, output as text or JSON."""

import functools
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import click
import orjson

from app.core import clock
from app.core.database import transaction
from app.core.errors import ApiError
from app.core.wire.fields import to_storable
from app.products.rules import read_duration

Row = dict[str, Any]


class Duration(click.ParamType[timedelta]):
    """A duration such as `90s`, `15m`, `24h` or `30d`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Return the duration, or fail with a usage error."""
        duration = value if isinstance(value, timedelta) else read_duration(value)
        if duration is None:
            self.fail("write a duration as 90s, 15m, 24h or 30d", param, ctx)
        return duration


class Since(click.ParamType[str]):
    """A date, an instant, or how long ago: `2026-01-31`, `2026-01-31T12:00:00Z` or `30d`; `read_instant` reads it."""

    name = "since"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or fail with a usage error."""
        if read_instant(value) is None:
            self.fail("write a date as 2026-01-31, an instant as 2026-01-31T12:00:00Z, or 30d", param, ctx)
        return str(value)


def read_instant(text: str) -> datetime | None:
    """Return the instant that a text means now, in UTC where it names no offset; None if it means none."""
    if duration := read_duration(text):
        return clock.now() - duration
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return to_storable(instant if instant.tzinfo else instant.replace(tzinfo=UTC))


def command(
    group: click.Group, name: str, *, needs_settings: bool = True, has_problem: Callable[[Any], bool] | None = None
) -> Callable[[Callable[..., Row | list[Row]]], click.Command]:
    """Register a function as a command that runs in one transaction and prints its rows; adds the option --json.

    One that needs no settings of the service has no transaction either. One that checks something exits with 1 after
    it has printed what `has_problem` is true of.
    """

    def decorator(function: Callable[..., Row | list[Row]]) -> click.Command:
        @click.option("--json", "as_json", is_flag=True, help="Print JSON.")
        @functools.wraps(function)
        def run(as_json: bool, **options: Any) -> None:
            try:
                with transaction() if needs_settings else nullcontext():
                    result = function(**options)
            except ApiError as error:
                raise click.ClickException(str(error)) from None
            click.echo(_as_json(result) if as_json else _as_text(result))
            if has_problem is not None and has_problem(result):
                click.get_current_context().exit(1)

        return group.command(name)(run)

    return decorator


def printable(text: str) -> str:
    """Return a text whose characters that could control a terminal are escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )


def _as_json(result: Row | list[Row]) -> str:
    return orjson.dumps(result, option=orjson.OPT_UTC_Z | orjson.OPT_INDENT_2).decode()


def _as_text(result: Row | list[Row]) -> str:
    rows = result if isinstance(result, list) else [result]
    return "\n\n".join("\n".join(_lines(row)) for row in rows) or "none"


def _lines(row: Row, indent: str = "") -> Iterable[str]:
    width = max(map(len, row), default=0)
    for name, value in row.items():
        if isinstance(value, dict):
            yield f"{indent}{name}"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, list) and any(isinstance(entry, dict) for entry in value):
            yield f"{indent}{name}"
            for entry in value:
                yield from _lines(entry, indent + "  ")
        else:
            yield f"{indent}{name:<{width}}  {_plain(value)}"


def _plain(value: Any) -> Any:
    """Return a value as a line shows it."""
    if value is None:
        return "-"
    return "none" if value == [] else value
