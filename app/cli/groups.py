"""Command groups whose modules are imported when one of their commands is used."""

from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """A group that is imported on first use: importing all of them takes longer than most commands run."""

    def __init__(self, name: str, target: str, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self._module_name, _, self._attribute = target.partition(":")

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return self._load().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command by its name."""
        return self._load().get_command(ctx, cmd_name)

    def _load(self) -> click.Group:
        group: click.Group = getattr(import_module(self._module_name), self._attribute)
        return group
