"""Accept batches of evidence."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from hmac import HMAC
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import text

from app.core import clock
from app.core.database import PreparedStatement, session
from app.core.errors import Problem, Unauthorized, Unprocessable
from app.core.limits.limiter import limiter
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.core.settings import current_settings
from app.evidence import rules
from app.evidence.counts import record_changes
from app.evidence.schemas import Event, EvidenceBatch
from app.ledger.counts import record_totals
from app.ledger.rules import UNKNOWN_SENDER, Sender, Source
from app.products.key_cache import CallerEnvironment
from config.allowlist import Allowlist
from config.limits import QuotaName

TOKEN_NOT_ALLOWED = "token_not_allowed"
HOST_NOT_ALLOWED = "host_not_allowed"


class EvidenceCounts(NamedTuple):
    """How many events of a batch were stored, and how many are older than the retention."""

    accepted: int
    expired: int


_TOTALS = """
    SELECT id AS environment_id, (:now::timestamptz AT TIME ZONE 'UTC')::date AS day_on,
        :sdk::text AS sdk, :version::text AS version, :event_count::bigint AS events,
        (SELECT count(*) FROM added) AS accepted,
        (SELECT count(*) FROM sent WHERE observed_at < kept_since) AS expired
    FROM environment
"""


def _add_evidence(columns: str = "", condition: str = "") -> str:
    """Return the statement that stores those events of a batch that `condition`, about a row `s` of them, holds for.

    `columns` are further ones of the batch. The statement is one: the events, in the order of their digests so that two
    senders never wait for each other in a circle, and the changes of the counts. Without the environment it has no row.
    """
    return f"""
    WITH environment AS (
        SELECT id, :now::timestamptz - make_interval(days => evidence_retention_days) AS kept_since
        FROM environments WHERE id = :environment_id::uuid
    ), sent AS (
        SELECT * FROM json_to_recordset(:events::json) AS e (
            {columns}digest text, observed_at timestamptz, method text, response_status smallint,
            agent_token text, actor_provider text, fetch_class text, network_method text, referrer_host text,
            referral_provider text)
    ), added AS (
        INSERT INTO evidence_events (
            environment_id, digest, source_digest, source_kind, source_provider, observed_at, method, response_status,
            agent_token, actor_provider, fetch_class, network_method, referrer_host, referral_provider)
        SELECT e.id, decode(s.digest, 'base64'), :source_digest::bytea, :source_kind::text,
            :source_provider::text, s.observed_at, s.method, s.response_status,
            s.agent_token, s.actor_provider, s.fetch_class, s.network_method, s.referrer_host, s.referral_provider
        FROM environment e JOIN sent s ON s.observed_at >= e.kept_since {condition} ORDER BY 2
        ON CONFLICT (environment_id, digest) DO NOTHING
        RETURNING environment_id, observed_at, source_kind, source_provider, actor_provider, fetch_class,
            network_method, referral_provider
    ), changes AS ({record_changes("added")}
    ), totals AS ({_TOTALS}), counted AS ({record_totals("totals", Source.EVIDENCE)})
    SELECT accepted, expired FROM totals
    """


ADD_EVIDENCE = PreparedStatement("add_evidence", _add_evidence(), row=EvidenceCounts)

_IS_NEW_UNDER_OLDER = """
    WHERE NOT EXISTS (
        SELECT FROM evidence_events x JOIN json_array_elements_text(s.older_digests) AS older
            ON x.digest = decode(older, 'base64')
        WHERE x.environment_id = e.id
    )
"""

# While there are older peppers: what is stored under one of them is a duplicate too. In a transaction that holds the
# lock of the environment, since no constraint sees two senders of one event of which each has another newest pepper.
_ADD_EVIDENCE_ONCE = text(_add_evidence("older_digests json, ", _IS_NEW_UNDER_OLDER).replace("::", r"\:\:"))
_LOCK = text("SELECT pg_advisory_xact_lock(hashtext('evidence'), hashtext(:environment_id))")


class _Row(msgspec.Struct, frozen=True, omit_defaults=True):
    """An event as it goes to the database."""

    digest: bytes
    observed_at: datetime
    method: str
    response_status: int
    agent_token: str | None = None
    actor_provider: str | None = None
    fetch_class: str | None = None
    network_method: str | None = None
    referrer_host: str | None = None
    referral_provider: str | None = None
    older_digests: tuple[bytes, ...] = ()
    """Under the older peppers."""


_encoder = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True)
class Receipt:
    """The numbers of stored, duplicate and expired events of a batch."""

    accepted: int
    duplicates: int
    expired: int


def accept_batch(environment: CallerEnvironment, batch: EvidenceBatch, sender: Sender = UNKNOWN_SENDER) -> Receipt:
    """Store what is new of a batch and within the environment's retention; the first content of an event stays."""
    allowlist, now = current_settings().allowlist, clock.now()
    if problems := list(_problems(batch, allowlist, now)):
        codes = [problem.code for problem in problems]
        code = next((code for code in codes if code in (TOKEN_NOT_ALLOWED, HOST_NOT_ALLOWED)), None)
        raise Unprocessable(code=code, problems=problems)
    with limiter().use_quota(QuotaName.EVIDENCE, environment.id, len(batch.events)):
        counts = _store(environment, batch, sender, now)
    limiter().return_quota(QuotaName.EVIDENCE, environment.id, len(batch.events) - counts.accepted)
    return Receipt(counts.accepted, len(batch.events) - counts.accepted - counts.expired, counts.expired)


def import_batch(environment_id: uuid.UUID, batch: EvidenceBatch, sender: Sender, received_at: datetime) -> None:
    """Store what is new of a valid batch of an earlier time, in the current transaction and without a quota."""
    _add_once(_values(environment_id, batch, sender, received_at))


def _store(environment: CallerEnvironment, batch: EvidenceBatch, sender: Sender, now: datetime) -> EvidenceCounts:
    """Store what is new of a valid batch, or raise `Unauthorized` if there is no such environment any more."""
    values = _values(environment.id, batch, sender, now)
    counts = _add_once(values) if pepper_ring().has_older else ADD_EVIDENCE.first(**values)
    if counts is None:
        # The environment was removed within the second for which its keys are still cached.
        raise Unauthorized
    return counts


def _values(environment_id: uuid.UUID, batch: EvidenceBatch, sender: Sender, now: datetime) -> dict[str, Any]:
    """Return what the statements that store a batch take."""
    source = batch.source
    keys = pepper_ring().derive_all(Purpose.EVIDENCE_IDS, environment_id)
    digests = [rules.source_digest(key, source.kind, source.provider, source.source_id) for key in keys]
    hmacs = [rules.source_hmac_of(key, digest) for key, digest in zip(keys, digests, strict=True)]
    return {
        "environment_id": environment_id,
        "now": now,
        "source_digest": digests[0],
        "source_kind": source.kind,
        "source_provider": source.provider,
        "events": _encoder.encode(_rows(batch.events, hmacs, current_settings().allowlist)).decode(),
        "event_count": len(batch.events),
        "sdk": sender.sdk,
        "version": sender.version,
    }


def _add_once(values: dict[str, Any]) -> EvidenceCounts | None:
    session().execute(_LOCK, {"environment_id": str(values["environment_id"])})
    row = session().execute(_ADD_EVIDENCE_ONCE, values).first()
    return EvidenceCounts(*row) if row else None


def _rows(events: list[Event], source_hmacs: Sequence[HMAC], allowlist: Allowlist) -> list[_Row]:
    """Return one row for each event; of a repeated one the first."""
    rows: dict[bytes, _Row] = {}
    source_hmac, *older_hmacs = source_hmacs
    for event in events:
        digest = rules.event_digest(source_hmac, event.event_id)
        if digest in rows:
            continue
        agent = allowlist.agents[event.agent_token] if event.agent_token is not None else None
        referrer = allowlist.referrers[event.referrer_host] if event.referrer_host is not None else None
        rows[digest] = _Row(
            digest,
            event.observed_at,
            event.method,
            event.response_status,
            event.agent_token,
            agent.provider if agent else None,
            agent.fetch_class if agent else None,
            event.network_evidence.method if event.network_evidence else None,
            event.referrer_host,
            referrer.provider if referrer else None,
            tuple([rules.event_digest(older_hmac, event.event_id) for older_hmac in older_hmacs]),
        )
    return list(rows.values())


def _problems(batch: EvidenceBatch, allowlist: Allowlist, now: datetime) -> Iterator[Problem]:
    """Return the problems that the schema cannot find."""
    allowlist, latest = allowlist.of(batch.schema_version), now + rules.MAX_CLOCK_LEAD
    for index, event in enumerate(batch.events):
        yield from _problems_of(event, f"/events/{index}", allowlist, latest)


def _problems_of(event: Event, pointer: str, allowlist: Allowlist, latest: datetime) -> Iterator[Problem]:
    token, host, evidence = event.agent_token, event.referrer_host, event.network_evidence
    if token is None and host is None:
        yield Problem(pointer, "required", "An event needs an agentToken, a referrerHost, or both.")
    if token is not None and token not in allowlist.agents:
        limits = {"allowed": list(allowlist.agents)}
        yield Problem(f"{pointer}/agentToken", TOKEN_NOT_ALLOWED, "This agent token is not on the allowlist.", limits)
    if host is not None and host not in allowlist.referrers:
        limits = {"allowed": list(allowlist.referrers)}
        yield Problem(f"{pointer}/referrerHost", HOST_NOT_ALLOWED, "This host is not on the allowlist.", limits)
    if evidence is not None and token is None:
        words = "Network evidence is about an agent; send it beside an agentToken only."
        yield Problem(f"{pointer}/networkEvidence", "needs_agent_token", words)
    if evidence is not None and evidence.method not in allowlist.network_methods:
        limits = {"allowed": list(allowlist.network_methods)}
        yield Problem(f"{pointer}/networkEvidence/method", "enum", "This is not one of the allowed values.", limits)
    if event.observed_at > latest:
        yield Problem(f"{pointer}/observedAt", "range", "This lies more than five minutes ahead.")
