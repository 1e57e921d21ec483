"""Options that take a folder."""

import os
from pathlib import Path
from typing import Any

import click


class Folder(click.Path):
    """A folder, which may be new. An empty text is refused: it is what an unset variable of a shell leaves."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail with a usage error."""
        if not os.fspath(value):
            self.fail("name a folder; an empty text names none (write . for the current one)", param, ctx)
        return super().convert(value, param, ctx)
