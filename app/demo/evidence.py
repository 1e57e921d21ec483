"""AI traffic: what the company's own logs show of agents and referrals."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

from app.demo.content import SourceContent, evidence
from app.demo.period import DAYS, Period, count_around, moment_of_day
from app.demo.workspace import SampleEnvironment
from app.evidence.rules import SCHEMA_VERSION
from app.evidence.schemas import Event, EvidenceBatch, NetworkEvidence, Source
from app.evidence.service import import_batch
from app.ledger.rules import Sender
from app.version import VERSION

SHIPPED_AFTER = timedelta(minutes=20)


def write_evidence(period: Period, environment: SampleEnvironment) -> int:
    """Insert what the logs of a production environment show, and return the number of events."""
    if environment.content.name != "production":
        return 0
    return sum(
        _write_source(period, environment, source)
        for source in evidence().sources
        if source.product == environment.product.slug
    )


def _write_source(period: Period, environment: SampleEnvironment, source: SourceContent) -> int:
    """Insert the events of a source, each day's as one batch."""
    random, total = period.random(f"evidence {source.source_id}"), 0
    for day in range(DAYS):
        events = [event for event in _events(random, period, source, day) if period.is_past(event.observed_at)]
        if events:
            batch = EvidenceBatch(SCHEMA_VERSION, Source(source.kind, source.provider, source.source_id), events)
            received_at = min(events[-1].observed_at + SHIPPED_AFTER, period.end)
            import_batch(environment.id, batch, Sender(source.sdk, VERSION), received_at)
            total += len(events)
    return total


def _events(random: Random, period: Period, source: SourceContent, day: int) -> list[Event]:
    count = count_around(random, period.daily_volume(day, source.events))
    moments = sorted(period.at(day) + moment_of_day(random) for _ in range(count))
    return list(_named(random, source, day, moments))


def _named(random: Random, source: SourceContent, day: int, moments: list[datetime]) -> Iterator[Event]:
    content = evidence()
    for number, moment in enumerate(moments):
        is_referral = random.random() < content.shares["referral"]
        is_attested = random.random() < content.shares["attested"]
        token, host = _choose(random, content.agents), _choose(random, content.referrers)
        status = 404 if random.random() < content.shares["not_found"] else 200
        method = "HEAD" if random.random() < content.shares["head"] else "GET"
        yield Event(
            event_id=f"{source.source_id}-{day:02}-{number:05}",
            observed_at=moment,
            method="GET" if is_referral else method,
            response_status=status,
            agent_token=None if is_referral else token,
            network_evidence=NetworkEvidence(source.attested) if is_attested and not is_referral else None,
            referrer_host=host if is_referral else None,
        )


def _choose(random: Random, weights: dict[str, float]) -> str:
    return random.choices(list(weights), list(weights.values()))[0]
