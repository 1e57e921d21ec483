"""A real server in place of the evidence endpoint: keeps every byte it gets and takes only what the contract allows."""

import json
import re
import socketserver
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from ipaddress import ip_address
from typing import Any

from app.core import protocol
from tests.sdk.endpoint import HANG_UP

KEY = "af_company_0123456789abcdef0123456789abcdef_0123456789012345678901234567890123456789abc"
PATH = "/api/v1/evidence/http-requests/batches"

_ALLOWLIST = protocol.read("allowlist.json")
TOKENS = {entry["token"] for entry in _ALLOWLIST["tokens"]}
HOSTS = {entry["host"] for entry in _ALLOWLIST["hosts"]}
METHODS = {"published_ip_range", "forward_confirmed_reverse_dns"} | {
    f"{vendor}_verified_bot" for vendor in _ALLOWLIST["vendors"]
}
KINDS = {"cdn_log", "edge_worker", "load_balancer_log", "server_log", "application"}

Json = dict[str, Any]


def check_batch(batch: Json) -> None:
    """Fail unless a body is exactly of the contract's shape."""
    assert set(batch) == {"schemaVersion", "source", "events"}
    assert (type(batch["schemaVersion"]), batch["schemaVersion"]) == (int, 1)
    source = batch["source"]
    assert set(source) == {"kind", "provider", "sourceId"}
    assert source["kind"] in KINDS
    assert re.fullmatch(r"[a-z0-9][a-z0-9_.-]{0,63}", source["provider"])
    check_opaque(source["sourceId"])
    assert 1 <= len(batch["events"]) <= 500
    for event in batch["events"]:
        check_event(event)


def check_event(event: Json) -> None:
    """Fail unless an event is exactly of the contract's shape."""
    required_members, optional_members = (
        {"eventId", "observedAt", "method", "responseStatus"},
        {"agentToken", "referrerHost"},
    )
    assert required_members <= set(event) <= required_members | optional_members | {"networkEvidence"}
    assert optional_members & set(event)
    check_opaque(event["eventId"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", event["observedAt"])
    assert datetime.fromisoformat(event["observedAt"]).tzinfo
    assert event["method"] in ("GET", "HEAD")
    assert type(event["responseStatus"]) is int
    assert 100 <= event["responseStatus"] <= 599
    assert event.get("agentToken", "GPTBot") in TOKENS
    assert event.get("referrerHost", "chatgpt.com") in HOSTS
    if "networkEvidence" in event:
        assert "agentToken" in event
        assert set(event["networkEvidence"]) == {"method"}
        assert event["networkEvidence"]["method"] in METHODS


def check_opaque(name: str) -> None:
    """Fail unless an id is one that the service takes."""
    assert re.fullmatch(r"[A-Za-z0-9_.:-]{8,128}", name)
    try:
        ip_address(name)
    except ValueError:
        return
    raise AssertionError("an address is no id")


class Service:
    """Stores each event once and answers what the service would; `replies` come first, as status and body."""

    def __init__(self) -> None:
        self.url = ""
        self.raw = bytearray()
        self.stored: dict[tuple[str, str, str, str], Json] = {}
        self.batches: list[Json] = []
        self.replies: list[tuple[int, bytes, str]] = []
        self.problems: list[str] = []
        self.pause_s = 0.0
        self.hangs_after = 1_000_000
        """After so many batches no answer comes for a long time."""
        self.loses_answers = 0
        """So many requests are stored and then hung up on."""

    @property
    def events(self) -> list[Json]:
        return list(self.stored.values())

    @property
    def tokens(self) -> Counter[str | None]:
        return Counter(event.get("agentToken") for event in self.events)

    def answer(self, head: bytes, body: bytes) -> tuple[int, bytes, str]:
        if self.replies:
            return self.replies.pop(0)
        if f"POST {PATH} ".encode() not in head or f"Authorization: Bearer {KEY}\r\n".encode() not in head:
            return 401, b'{"error": "no", "code": "unauthorized"}', ""
        receipt = self.take(body)
        if self.loses_answers:
            self.loses_answers -= 1
            return HANG_UP, b"", ""
        return 200, receipt, ""

    def take(self, body: bytes) -> bytes:
        batch = json.loads(body)
        try:
            check_batch(batch)
        except AssertionError as error:
            self.problems.append(str(error))
            raise
        self.batches.append(batch)
        source = batch["source"]
        duplicates = 0
        for event in batch["events"]:
            key = (source["kind"], source["provider"], source["sourceId"], event["eventId"])
            duplicates += key in self.stored
            if self.stored.setdefault(key, event) != event:
                self.problems.append("an id stands for two events")
        counts = {"accepted": len(batch["events"]) - duplicates, "duplicates": duplicates, "expired": 0}
        return json.dumps(counts).encode()


def _handler(service: Service) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        disable_nagle_algorithm = True

        def handle(self) -> None:
            while head := self._head():
                length = int(re.search(rb"(?i)\r\ncontent-length: (\d+)", head)[1])
                body = self.rfile.read(length)
                service.raw += head + body
                if len(body) < length or not self._answer(head, body):
                    return

        def _head(self) -> bytes:
            head = b""
            while line := self.rfile.readline():
                head += line
                if line == b"\r\n":
                    return head
            return b""

        def _answer(self, head: bytes, body: bytes) -> bool:
            status, content, headers = service.answer(head, body)
            if status == HANG_UP:
                return False
            threading.Event().wait(30 if len(service.batches) > service.hangs_after else service.pause_s)
            self.wfile.write(
                f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\n{headers}\r\n".encode() + content
            )
            return True

    return Handler


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: some clients are killed on purpose."""


@contextmanager
def serving() -> Iterator[Service]:
    """Run the server while the block runs, and complain about every batch that was not right."""
    service = Service()
    with _Server(("127.0.0.1", 0), _handler(service)) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
    assert service.problems == []
