"""The examples of the package's README."""

import re
from pathlib import Path
from typing import NamedTuple

import agent_feedback

README = Path(agent_feedback.__file__).resolve().parents[2] / "README.md"
_EXAMPLE = re.compile(
    r"^## (?P<title>[^\n]+)$|(?:<!-- runs in (?P<test>\S+) -->\n)?```python\n(?P<code>.*?)```", re.M | re.S
)


class Example(NamedTuple):
    """One block of Python: the heading above it, the test that runs it if one does, and its code."""

    title: str
    test: str | None
    code: str


def read_examples() -> list[Example]:
    """Return every block of Python, in order."""
    title, examples = "", []
    for match in _EXAMPLE.finditer(README.read_text()):
        title = match["title"] or title
        if match["code"]:
            examples.append(Example(title, match["test"], match["code"]))
    return examples


def examples_of(title: str) -> list[Example]:
    """Return the blocks below a heading."""
    return [example for example in read_examples() if example.title == title]
