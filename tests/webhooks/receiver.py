"""A receiver of webhooks: a real HTTP server that remembers what it was sent."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook


@dataclass(frozen=True)
class ReceivedWebhook:
    """One request to the receiver."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verify(self, secret: str) -> Any:
        """Return the payload, as the receivers' own library verifies it."""
        return Webhook(secret).verify(self.body, self.headers)


@dataclass
class Receiver:
    """Where a receiver listens, what it received, and what it answers."""

    url: str = ""
    webhooks: list[ReceivedWebhook] = field(default_factory=list)
    answer: Callable[[ReceivedWebhook], int] = lambda _: 200
    headers: dict[str, str] = field(default_factory=dict)

    def bodies(self) -> list[bytes]:
        return [webhook.body for webhook in self.webhooks]

    def answer_with(self, *statuses: int) -> None:
        """Answer with each of the statuses once, and with the last one from then on."""
        self.answer = lambda _: statuses[min(len(self.webhooks), len(statuses)) - 1]


@contextmanager
def running_receiver(port: int = 0) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            webhook = ReceivedWebhook(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            receiver.webhooks.append(webhook)
            self.send_response(receiver.answer(webhook))
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield receiver
        finally:
            server.shutdown()
            thread.join()
