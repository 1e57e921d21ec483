"""The agent of the conformance suite: reads a JSON command a line, and prints a JSON result a line."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from agent_feedback import ServiceRefused, ServiceUnavailable
from agent_feedback.agent import Page, Received, discover, fetch, from_response

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")

Command = Mapping[str, Any]
Result = dict[str, Any]


class Session:
    """What was fetched last, and what may be done with it."""

    def __init__(self) -> None:
        self._page: Page | None = None
        self._received: Received | None = None
        self._allowed_origins: Sequence[str] | None = None
        self._verbs: dict[str, Callable[[Command], Any]] = {
            "fetch": self._fetch,
            "discover": self._discover,
            "introspect": lambda _command: self._envelope().introspect(),
            "decide": lambda command: self._envelope().decide(command["decision"]),
            "submit_outcome": lambda command: self._envelope().submit_outcome(command["outcome"], command["note"]),
            "submit_report": lambda command: self._envelope().submit_report(**command["report"]),
            "answer": lambda command: self._envelope().answer(command["items"], command.get("status") or "answered"),
        }

    def do(self, line: str) -> Result:
        """Do what a command says, and return its result."""
        try:
            command = json.loads(line)
            body = self._verbs[command["do"]](command)
        except ServiceRefused as error:
            return _failure("refused", error, status=error.status, code=error.code)
        except ServiceUnavailable as error:
            return _failure("unavailable", error)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
            return _failure("invalid", error)
        envelope = self._received.content if self._received else {}
        question = self._received.question if self._received else None
        return {"ok": True, "state": envelope.get("state"), "question": question, "body": body}

    def _fetch(self, command: Command) -> Any:
        self._page = self._received = None
        page = fetch(command["url"], command.get("headers"))
        if page.status_code >= 500:
            raise ServiceUnavailable(f"the product answered with status {page.status_code}")
        if page.status_code >= 300:
            raise ServiceRefused(page.status_code, None)
        self._page, self._allowed_origins = page, command.get("allowedOrigins")
        return self._receive(from_response(page, allowed_origins=self._allowed_origins or []))

    def _discover(self, _command: Command) -> Any:
        if self._page is None:
            raise ValueError("nothing was fetched")
        return self._receive(discover(self._page, allowed_origins=self._allowed_origins or []))

    def _receive(self, received: Received | None) -> Any:
        """Keep what was received, and return its envelope."""
        if received and self._allowed_origins is None:
            origins = _loopback_origins(received)
            received = Received(received.content, origins, received.context, received.retry_headers)
        self._received = received
        return (received.content or None) if received else None

    def _envelope(self) -> Received:
        if self._received is None:
            raise ValueError("the last response has no envelope")
        return self._received


def _loopback_origins(received: Received) -> list[str]:
    """Return the service that an envelope names if it is on this machine: allowed where a command names no origins."""
    origin = received.service_origin
    return [origin] if origin and urlsplit(origin).hostname in LOOPBACK_HOSTS else []


def _failure(error: str, reason: Exception, **details: Any) -> Result:
    return {"ok": False, "error": error, **details, "message": str(reason)}


def main() -> None:
    """Read commands until the input ends."""
    session = Session()
    # A line that is no text is answered as one that is no JSON.
    sys.stdin.reconfigure(encoding="utf-8", errors="surrogateescape")
    for line in sys.stdin:
        if line.strip():
            print(json.dumps(session.do(line)), flush=True)


if __name__ == "__main__":
    main()
