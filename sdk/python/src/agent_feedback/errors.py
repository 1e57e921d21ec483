"""The errors of this package."""

from typing import Any

MAX_MESSAGE_LENGTH = 300


class InvalidOption(ValueError):
    """An option or an argument has an unusable value; the message names it and what it takes. Nothing was sent.

    An agent gets it for everything that an envelope, a context action or its allowed origins do not allow.
    """


class ServiceError(Exception):
    """A call to the service did not succeed."""


class ServiceUnavailable(ServiceError):
    """No usable answer arrived: a network error, a timeout, an unreadable body, or calls are switched off."""


class ServiceUnreachable(ServiceUnavailable):
    """No connection could be opened, so the service has received nothing."""


class ServiceRefused(ServiceError):
    """The service answered with an error status.

    `status` is the HTTP status, `body` the answer as JSON or else the beginning of its text, `code` and `message` the
    service's error slug and sentence, and `errors` has one entry with `pointer`, `code` and `message` for each problem
    of the request's body.
    """

    def __init__(self, status: int, body: Any = None) -> None:
        content = body if isinstance(body, dict) else {}
        self.status, self.body = status, body
        self.code = _printable(content.get("code"))
        self.message = _printable(body if isinstance(body, str) else content.get("error"))
        entries = content.get("errors")
        self.errors = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
        problems = [f"{_printable(entry.get('pointer'))} {_printable(entry.get('message'))}" for entry in self.errors]
        sentences = " / ".join([self.message, *problems])[:MAX_MESSAGE_LENGTH]
        super().__init__(f"{status} {self.code}".rstrip() + f": {sentences}")


def _printable(text: Any) -> str:
    """Return a text of the service as one printable line; empty for anything that is no text."""
    line = text[:MAX_MESSAGE_LENGTH] if isinstance(text, str) else ""
    return "".join(character if character.isprintable() else " " for character in line)
