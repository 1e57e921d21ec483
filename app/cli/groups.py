"""Commands and groups of commands whose modules are imported when they are used."""

from importlib import import_module
from typing import Any

import click


class LazyCommand(click.Command):
    """A command that is imported when it is used."""

    def __init__(self, name: str, target: str, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self._target = target

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return a context of the command itself."""
        module_name, _, attribute = self._target.partition(":")
        command: click.Command = getattr(import_module(module_name), attribute)
        return command.make_context(info_name, args, parent, **extra)


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
