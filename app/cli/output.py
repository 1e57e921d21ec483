"""The decorator of commands: one transaction, errors in one sentence, output as text or JSON."""

import functools
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

import click
import orjson

from app.core.database import transaction
from app.core.errors import ApiError
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


def command(
    group: click.Group, name: str, *, needs_settings: bool = True
) -> Callable[[Callable[..., Row | list[Row]]], click.Command]:
    """Register a function as a command that runs in one transaction and prints its rows; adds the option --json.

    One that needs no settings of the service has no transaction either.
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
            yield f"{indent}{name:<{width}}  {'-' if value is None else value}"
