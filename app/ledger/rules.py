"""What the headers of a batch say of its sender and of losses. Whatever cannot be read is ignored."""

import re
import uuid
from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from app.core import protocol

_LEDGER: Mapping[str, Any] = protocol.read("contract.json")["ledger"]
_HEADERS: Mapping[str, str] = _LEDGER["headers"]
_MAX_UNANSWERED: int = _LEDGER["maxUnanswered"]

REFUSED_HEADER = _HEADERS["refused"]
LOSS_REASONS = frozenset(_LEDGER["lossReasons"])

UNKNOWN = "unknown"
"""The SDK and version of a sender that does not say who it is."""

MAX_HEADER_LENGTH = 8_192
"""More than an SDK sends: 32 batches with every reason each."""

_USER_AGENT = re.compile(r"agent-feedback-([a-z]{1,16})/([0-9A-Za-z.+-]{1,32})\Z")
_MAX_USER_AGENT_LENGTH = 64
_BATCH_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z")
_COUNT = re.compile(r"\s*([a-z_]{1,32})=([0-9]{1,9})\s*\Z", re.ASCII)


class Source(StrEnum):
    """The kind of batch that is counted."""

    TELEMETRY = "telemetry"
    EVIDENCE = "evidence"


class Measure(StrEnum):
    """What became of an event; no event has two."""

    ACCEPTED = "accepted"
    DUPLICATE = "duplicate"
    EXPIRED = "expired"
    REFUSED = "refused"
    LOST = "lost"


Counts = Mapping[str, int]
"""The number of events by reason."""


class Headers(Protocol):
    """The headers of a request."""

    def get(self, key: str, default: str) -> str:
        """Return the value of a header."""


class Sender(NamedTuple):
    """The SDK that sent a batch, and its version."""

    sdk: str
    version: str


UNKNOWN_SENDER = Sender(UNKNOWN, UNKNOWN)


class LossReport(NamedTuple):
    """What a batch reports as lost."""

    lost: Counts = {}
    """Lost for certain."""
    unanswered: Mapping[str, Counts] = {}
    """By the id of another batch: what is lost if that one never arrived."""


class BatchHeaders(NamedTuple):
    """What the headers of a batch say."""

    sender: Sender = UNKNOWN_SENDER
    batch_id: uuid.UUID | None = None
    report: LossReport = LossReport()


NO_HEADERS = BatchHeaders()


def read_headers(headers: Headers) -> BatchHeaders:
    """Read the headers of a batch."""
    batch_id = headers.get(_HEADERS["batch"], "").lower()
    return BatchHeaders(
        read_sender(headers.get("User-Agent", "")),
        uuid.UUID(batch_id) if _BATCH_ID.match(batch_id) else None,
        read_report(headers.get(_HEADERS["lost"], ""), headers.get(_HEADERS["unanswered"], "")),
    )


def read_sender(user_agent: str) -> Sender:
    """Read a User-Agent header such as `agent-feedback-python/0.1.0`."""
    return _read_sender(user_agent) if len(user_agent) <= _MAX_USER_AGENT_LENGTH else UNKNOWN_SENDER


@lru_cache(maxsize=256)
def _read_sender(user_agent: str) -> Sender:
    match = _USER_AGENT.match(user_agent)
    return Sender(match[1], match[2]) if match else UNKNOWN_SENDER


def read_report(lost: str, unanswered: str) -> LossReport:
    """Read the headers of losses; the parts of unanswered batches are taken out of what is lost for certain."""
    if not lost or len(lost) > MAX_HEADER_LENGTH:
        return LossReport()
    totals = Counter(_read_counts(lost, ";"))
    parts = _read_unanswered(unanswered)
    certain = totals.copy()
    for counts in parts.values():
        certain.subtract(counts)
    if any(count < 0 for count in certain.values()):
        return LossReport(totals)
    return LossReport(+certain, parts)


def _read_counts(text: str, separator: str) -> Counts:
    """Read `reason=count` members; one that is unknown, malformed, zero or repeated is ignored."""
    counts: dict[str, int] = {}
    for member in text.split(separator):
        match = _COUNT.match(member)
        if match and match[1] in LOSS_REASONS and int(match[2]):
            counts.setdefault(match[1], int(match[2]))
    return counts


def _read_unanswered(text: str) -> Mapping[str, Counts]:
    """Read `batch id:reason=count,…` entries; if one is malformed, all are ignored."""
    entries = text.split(";") if text else []
    if len(text) > MAX_HEADER_LENGTH or len(entries) > _MAX_UNANSWERED:
        return {}
    parts: dict[str, Counts] = {}
    for entry in entries:
        batch_id, _, members = entry.strip().lower().partition(":")
        counts = _read_counts(members, ",")
        if not _BATCH_ID.match(batch_id) or len(counts) != members.count(",") + 1 or batch_id in parts:
            return {}
        parts[batch_id] = counts
    return parts
