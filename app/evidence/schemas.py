"""marshmallow schemas of evidence."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from marshmallow import fields

from app.core.wire.fields import Choice, Identifier, Instant, Integer, Text, Violation, invalid
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.core.wire.text import python_pattern
from app.evidence.rules import (
    DEFAULT_WINDOW_DAYS,
    ID_PATTERN,
    MAX_EVENTS,
    MAX_ID_LENGTH,
    METHODS,
    MIN_ID_LENGTH,
    PROVIDER_PATTERN,
    SCHEMA_VERSION,
    SOURCE_KINDS,
    WINDOW_DAYS,
    is_address,
)

MAX_NAME_LENGTH = 255
"""No token, host or method of the allowlist is longer."""


class OpaqueId(Text):
    """An id that says nothing about anybody; an IP address would."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=MIN_ID_LENGTH, max_length=MAX_ID_LENGTH, pattern=ID_PATTERN, **kwargs)

    def _check(self, value: str) -> None:
        super()._check(value)
        if is_address(value):
            raise invalid(Violation("format", "This must not be an IP address."))

    def fast_type(self) -> Any:
        # What could be an address is left for `is_address` to judge.
        pattern = r"^(?![0-9.]+(:[0-9]+)?\Z)(?![0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:[0-9A-Fa-f.:]*\Z)" + ID_PATTERN[1:]
        return Annotated[str, msgspec.Meta(pattern=python_pattern(pattern))]


class AllowlistedName(Text):
    """A name of the allowlist; the service looks it up after deserializing."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min_length=1, max_length=MAX_NAME_LENGTH, **kwargs)

    def _check(self, value: str) -> None:
        pass

    def fast_type(self) -> Any:
        return str


class Source(Payload, frozen=True):
    """The source that observed the requests."""

    kind: str
    provider: str
    source_id: str


class NetworkEvidence(Payload, frozen=True):
    """How the source recognised the agent."""

    method: str


class Event(Payload, frozen=True):
    """One request."""

    event_id: str
    observed_at: datetime
    method: str
    response_status: int
    agent_token: str | None = None
    network_evidence: NetworkEvidence | None = None
    referrer_host: str | None = None


class EvidenceBatch(Payload, frozen=True):
    """What one exporter sends at a time."""

    schema_version: int
    source: Source
    events: list[Event]


class SourceSchema(Schema):
    """The part of the company's own infrastructure that observed the requests."""

    loads_into = Source

    kind = Choice(SOURCE_KINDS, required=True)
    provider = Text(max_length=64, pattern=PROVIDER_PATTERN, required=True)
    source_id = OpaqueId(required=True)


class NetworkEvidenceSchema(Schema):
    """How the source recognised the agent, beyond its name."""

    loads_into = NetworkEvidence

    method = AllowlistedName(
        required=True,
        metadata={
            "description": "`<vendor>_verified_bot` of a vendor on the allowlist, `published_ip_range` or "
            "`forward_confirmed_reverse_dns`.",
            "example": "published_ip_range",
        },
    )


class EventSchema(Schema):
    """One request, without anything of its content: an agent's token, an assistant's referrer host, or both."""

    loads_into = Event

    event_id = OpaqueId(required=True, metadata={"example": "event:00000001"})
    observed_at = Instant(required=True)
    method = Choice(METHODS, required=True)
    response_status = Integer(minimum=100, maximum=599, required=True)
    agent_token = AllowlistedName(
        metadata={"description": "One exact product token of the allowlist.", "example": "ChatGPT-User"}
    )
    network_evidence = Nested(NetworkEvidenceSchema)
    referrer_host = AllowlistedName(
        is_nullable=True, metadata={"description": "One exact hostname of the allowlist.", "example": "chatgpt.com"}
    )


class EvidenceBatchSchema(Schema):
    """1 to 500 events of one source; all are taken or none."""

    loads_into = EvidenceBatch
    example = {
        "schemaVersion": 1,
        "source": {"kind": "cdn_log", "provider": "example-cdn", "sourceId": "source_0001"},
        "events": [
            {
                "eventId": "event:00000001",
                "observedAt": "2026-01-31T12:00:00Z",
                "method": "GET",
                "responseStatus": 200,
                "agentToken": "ChatGPT-User",
            }
        ],
    }

    schema_version = Integer(minimum=SCHEMA_VERSION, maximum=SCHEMA_VERSION, required=True)
    source = Nested(SourceSchema, required=True)
    events = List(Nested(EventSchema), min_length=1, max_length=MAX_EVENTS, required=True)


class EvidenceReceiptSchema(Schema):
    """What became of a batch; the three make up what was sent."""

    example = {"accepted": 1, "duplicates": 0, "expired": 0}

    accepted = Integer(required=True)
    duplicates = Integer(required=True)
    expired = Integer(required=True)


class SummaryQuery(Payload, frozen=True):
    """The query of a summary."""

    environment_id: str
    days: int


class SummaryQuerySchema(Schema):
    """Which environment, and how many days back from today."""

    loads_into = SummaryQuery

    environment_id = Identifier(required=True)
    days = Integer(minimum=WINDOW_DAYS.start, maximum=WINDOW_DAYS.stop - 1, load_default=DEFAULT_WINDOW_DAYS)


class WindowSchema(Schema):
    """Whole UTC days, today included, no more than the environment keeps."""

    days = Integer(required=True)
    requested_days = Integer(required=True)
    from_ = fields.Date(required=True)
    to = fields.Date(required=True)
    retention_days = Integer(required=True)


class TotalsSchema(Schema):
    """An event with an agent's token is a fetch, one with a referrer host a referral; one with both is both."""

    events = Integer(required=True)
    fetches = Integer(required=True)
    referrals = Integer(required=True)


class CountSchema(Schema):
    """How many events have this name."""

    name = fields.String(required=True)
    count = Integer(required=True)


class SourceCountSchema(Schema):
    """How many events came from sources of this kind and provider."""

    kind = fields.String(required=True)
    provider = fields.String(required=True)
    count = Integer(required=True)


class DayCountSchema(Schema):
    """One day."""

    date = fields.Date(required=True)
    fetches = Integer(required=True)
    referrals = Integer(required=True)


def _counts(inner: type[Schema]) -> fields.List[Any]:
    return fields.List(fields.Nested(inner), required=True)


class SummarySchema(Schema):
    """Counts of a window, exact at the moment of the answer; lists have the largest count first."""

    product_id = fields.UUID(required=True)
    environment_id = fields.UUID(required=True)
    window = Nested(WindowSchema, required=True)
    totals = Nested(TotalsSchema, required=True)
    by_actor_provider = _counts(CountSchema)
    by_fetch_class = _counts(CountSchema)
    by_evidence_tier = _counts(CountSchema)
    by_referral_provider = _counts(CountSchema)
    by_source = _counts(SourceCountSchema)
    by_network_evidence_method = _counts(CountSchema)
    daily = _counts(DayCountSchema)


class EvidenceCountItemSchema(Schema):
    """How many events of a day had the same source, actor and referrer; null is none."""

    date = fields.Date(required=True)
    source_kind = Choice(SOURCE_KINDS, required=True)
    source_provider = fields.String(required=True)
    actor_provider = fields.String(required=True, allow_none=True)
    fetch_class = fields.String(required=True, allow_none=True)
    network_method = fields.String(required=True, allow_none=True, data_key="networkEvidenceMethod")
    referral_provider = fields.String(required=True, allow_none=True)
    events = fields.Integer(required=True)
