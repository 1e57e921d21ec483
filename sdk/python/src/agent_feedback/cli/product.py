"""A product's response on the command line: fetched, or read from standard input."""

import argparse
import os
import re
import sys
from typing import NamedTuple

from agent_feedback.agent import Page, Received, discover, fetch, from_response
from agent_feedback.agent.requests import MAX_PAGE_BYTES, check_headers, origin_of
from agent_feedback.agent.response import read_members
from agent_feedback.cli.terminal import confirm, is_interactive
from agent_feedback.errors import InvalidOption

ORIGINS_VARIABLE = "AGENT_FEEDBACK_ALLOWED_ORIGINS"
STANDARD_INPUT = "-"


class Visit(NamedTuple):
    """One look at a product."""

    page: Page | None
    """None for a response from standard input."""
    received: Received | None
    allowed_origins: list[str]

    @property
    def place(self) -> str | None:
        """Where the envelope was: `header`, `json` or `html`, or `request` where it had to be asked for."""
        if self.received is None or self.received.place is None:
            return None
        return self.received.place if self.page is None or read_members(self.page).envelope else "request"


def add_product_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the URL, and what goes with its request."""
    add = parser.add_argument
    add("url", metavar="URL", help="a URL of the product; - reads a response from standard input")
    add(
        "-H", "--header", action="append", default=[], metavar="'NAME: VALUE'",
        help="a header of the request, such as your login",
    )  # fmt: skip
    add_origin_argument(parser)
    add("--json", action="store_true", help="print JSON, for scripts")


def add_origin_argument(parser: argparse.ArgumentParser) -> None:
    """Add the origins of services that may get something."""
    parser.add_argument(
        "--allow-origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help=f"a feedback service that may get something; also in {ORIGINS_VARIABLE}, and AGENT_FEEDBACK_URL",
    )


def visit(arguments: argparse.Namespace) -> Visit:
    """Fetch the response, and what it offers to agents that ask for it."""
    origins = read_origins(arguments.allow_origin)
    if arguments.url == STANDARD_INPUT:
        text = sys.stdin.buffer.read(MAX_PAGE_BYTES)
        return Visit(None, from_response(text, allowed_origins=origins), origins)
    page = fetch(arguments.url, _read_headers(arguments.header))
    return Visit(page, discover(page, allowed_origins=origins), origins)


def read_origins(arguments: list[str]) -> list[str]:
    """Return the origins of services that may get something, of the arguments and the environment."""
    variables = f"{os.environ.get(ORIGINS_VARIABLE, '')} {os.environ.get('AGENT_FEEDBACK_URL', '')}"
    origins = [*arguments, *(text for text in re.split(r"[\s,]+", variables) if text)]
    for origin in origins:
        if not origin_of(origin).startswith(("https://", "http://")):
            raise InvalidOption(f"{origin} is no origin; https://feedback.example.com is one")
    return origins


def permit(received: Received) -> None:
    """Make sure that the service of an envelope may get something, or raise InvalidOption."""
    origin = received.service_origin
    if origin is None or received.is_allowed:
        return
    if is_interactive() and confirm(f"The product names {origin} as its feedback service. Send to it?"):
        received.allow(origin)
        return
    raise InvalidOption(f"{origin} may get nothing so far; --allow-origin {origin} allows it")


def _read_headers(texts: list[str]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for text in texts:
        name, colon, value = text.partition(":")
        if not colon:
            raise InvalidOption("--header: 'NAME: VALUE' is needed")
        headers[name.strip()] = value.strip()
    return check_headers(headers)
