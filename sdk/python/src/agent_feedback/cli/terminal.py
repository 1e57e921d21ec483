"""What the command line writes and reads: lines, JSON, errors and questions."""

import http.client
import json
import socket
import ssl
import sys
from typing import Any

from agent_feedback.errors import ServiceUnavailable

MAX_LINE_LENGTH = 2000


def print_line(text: str = "") -> None:
    """Write one line to standard output."""
    sys.stdout.write(f"{text}\n")


def print_json(content: Any) -> None:
    """Write JSON to standard output, with escapes for what would steer a terminal or cannot be encoded."""
    text = json.dumps(content, indent=2, ensure_ascii=not _writes_unicode())
    print_line("".join(map(_escape, text)) if not text.isascii() or "\x7f" in text else text)


def print_error(text: str) -> None:
    """Write a message to standard error."""
    sys.stderr.write(f"agent-feedback: {printable(text)}\n")
    sys.stderr.flush()


def printable(text: Any) -> str:
    """Return the text of a product or a service as one line without what would steer a terminal."""
    line = "".join(character if character.isprintable() else " " for character in str(text)[:MAX_LINE_LENGTH])
    encoding = sys.stdout.encoding or "ascii"
    return line.encode(encoding, "backslashreplace").decode(encoding)


def redacted(content: Any) -> Any:
    """Return JSON without its credentials, of which only the beginning is shown."""
    if isinstance(content, list):
        return [redacted(entry) for entry in content]
    if not isinstance(content, dict):
        return content
    return {
        name: f"{str(entry).partition('.')[0]}…" if name == "authorization" else redacted(entry)
        for name, entry in content.items()
    }


def is_interactive() -> bool:
    """Tell whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(question: str) -> bool:
    """Ask the person at the terminal; anything but a clear yes is a no."""
    return ask(question, "[y/N]") is True


def ask(question: str, answers: str = "[y/n]") -> bool | None:
    """Return whether the person at the terminal says yes or no, or None for anything else."""
    sys.stderr.write(f"{question} {answers} ")
    sys.stderr.flush()
    return {"y": True, "yes": True, "n": False, "no": False}.get(sys.stdin.readline().strip().lower())


def reason_of(error: ServiceUnavailable) -> str:
    """Return why a server could not be reached, to be added to the message; empty if that is not known."""
    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f": its certificate is not valid ({cause.verify_message})"
    for kind, reason in _REASONS:
        if isinstance(cause, kind):
            return f": {reason}"
    return f": {cause}" if isinstance(cause, OSError) and str(cause) else ""


_REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (ssl.SSLError, "it does not speak TLS as is needed"),
    (socket.gaierror, "there is no such host"),
    (TimeoutError, "there was no answer in time"),
    (ConnectionRefusedError, "nothing listens there"),
    (http.client.RemoteDisconnected, "it closed the connection without an answer"),
    (http.client.HTTPException, "its answer is not HTTP"),
    (ConnectionError, "it closed the connection"),
)


def _escape(character: str) -> str:
    """Return a character of JSON as it may be written: those that are not printable are in strings only."""
    return character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]


def _writes_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().startswith("utf")
