"""A summary counted from the raw rows, and both read at one moment."""

import uuid
from collections import Counter
from datetime import UTC
from typing import Any

import orjson
from sqlalchemy import select, text

from app.core.database import session, transaction
from app.core.wire.encoder import body_encoder
from app.evidence import queries, rules
from app.evidence.models import EvidenceEvent
from app.evidence.schemas import SummarySchema
from tests.factories import Company

encode = body_encoder(SummarySchema())

Json = dict[str, Any]


def summary(company: Company, days: int = 30, environment_id: uuid.UUID | None = None) -> Json:
    """Return the summary as it goes over the wire; needs a transaction around it."""
    environment = environment_id or company.environment_id
    summary_row = queries.summarize(company.workspace_id, company.product_id, environment, days)
    content: Json = orjson.loads(encode(summary_row))
    return content


def count_events(company: Company, content: Json) -> Json:
    """Return what the counts of a summary must be, from the rows of its window."""
    window = content["window"]
    rows = session().scalars(select(EvidenceEvent).where(EvidenceEvent.environment_id == company.environment_id))
    lists: dict[str, Counter[Any]] = {name: Counter() for name in _LISTS}
    fetches: Counter[str] = Counter()
    referrals: Counter[str] = Counter()
    events = 0
    for row in rows:
        day = row.observed_at.astimezone(UTC).date().isoformat()
        if not window["from"] <= day <= window["to"]:
            continue
        events += 1
        fetches[day] += row.agent_token is not None
        referrals[day] += row.referrer_host is not None
        for name, member in _LISTS.items():
            lists[name].update([member(row)] if member(row) is not None else [])
    return {
        "totals": {"events": events, "fetches": fetches.total(), "referrals": referrals.total()},
        **{name: _sorted(counter) for name, counter in lists.items()},
        "daily": [
            {
                "date": day_count["date"],
                "fetches": fetches[day_count["date"]],
                "referrals": referrals[day_count["date"]],
            }
            for day_count in content["daily"]
        ],
    }


def _tier(row: EvidenceEvent) -> str | None:
    if row.agent_token is None:
        return None
    return rules.SOURCE_ATTESTED if row.network_method else rules.CLAIMED


_LISTS: dict[str, Any] = {
    "byActorProvider": lambda row: row.actor_provider,
    "byFetchClass": lambda row: row.fetch_class,
    "byEvidenceTier": _tier,
    "byReferralProvider": lambda row: row.referral_provider,
    "bySource": lambda row: (row.source_kind, row.source_provider),
    "byNetworkEvidenceMethod": lambda row: row.network_method,
}


def _sorted(counter: Counter[Any]) -> list[Json]:
    items = sorted(counter.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"kind": name[0], "provider": name[1], "count": count}
        if isinstance(name, tuple)
        else {"name": name, "count": count}
        for name, count in items
    ]


def summary_and_expectation(company: Company, days: int = 30) -> tuple[Json, Json]:
    """Return the counts of the summary and those of the raw rows, as of one moment."""
    with transaction():
        session().execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        content = summary(company, days)
        expected = count_events(company, content)
    return {name: content[name] for name in expected}, expected
