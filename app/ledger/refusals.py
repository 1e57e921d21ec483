"""Count the events that the service refuses, outside of every transaction: the answer does not depend on it."""

import json
import re
import uuid
from datetime import UTC

import msgspec

from app.core import clock
from app.core.database import PreparedStatement
from app.core.errors import ApiError
from app.ledger.counts import Change
from app.ledger.rules import REFUSED_HEADER, BatchHeaders, Measure, Source
from app.ledger.service import REMEMBERED_FOR, as_json
from app.products.key_cache import CallerEnvironment

COUNTED_STATUSES = (400, 403, 413, 415, 422)
"""Refusals that a repetition would get again. A 401 has no environment, and what says to come again loses nothing."""

_EVENT_POINTER = re.compile(r"/events/(0|[1-9][0-9]{0,5})(?:/|\Z)")

RECORD_REFUSAL = PreparedStatement(
    "record_refusal",
    """
    WITH batch AS (
        INSERT INTO ledger_batches (environment_id, id, expires_at, changes)
        SELECT :environment_id::uuid, :batch_id::uuid, :expires_at::timestamptz, :changes::jsonb
        ON CONFLICT (environment_id, id) DO NOTHING RETURNING id
    )
    INSERT INTO ledger_changes (environment_id, day_on, source, sdk, version, measure, name, events)
    SELECT :environment_id::uuid, :day_on::date, :source::text, :sdk::text, :version::text, :measure::text,
           :name::text, :events::bigint
    WHERE EXISTS (SELECT FROM batch)
    """,
)


class _Batch(msgspec.Struct):
    events: list[msgspec.Raw]


_decoder = msgspec.json.Decoder(_Batch)


def count_refusal(
    environment: CallerEnvironment | None, source: Source, headers: BatchHeaders, error: ApiError, body: bytes | None
) -> dict[str, str]:
    """Count the events of a refused batch under the code of its error, and return the header that says so.

    A batch without events counts nothing, and has no header.
    """
    if environment is None or error.status not in COUNTED_STATUSES:
        return {}
    events, now = count_events(error, body), clock.now()
    if events == 0:
        return {}
    day_on = now.astimezone(UTC).date()
    change = Change(environment.id, day_on, source, *headers.sender, Measure.REFUSED, error.slug)
    RECORD_REFUSAL.first(
        **change._asdict(),
        events=events,
        # A statement may be executed again after a lost connection, and counts once by the id.
        batch_id=headers.batch_id or uuid.uuid4(),
        expires_at=now + REMEMBERED_FOR,
        changes=json.dumps([as_json(change, events)]),
    )
    return {REFUSED_HEADER: str(events)}


def count_events(error: ApiError, body: bytes | None) -> int:
    """Return how many events a refusal costs: those that it names, or else all; 1 where the body does not show them."""
    matches = [_EVENT_POINTER.match(problem.pointer) for problem in error.problems]
    if matches and None not in matches:
        return len({match[1] for match in matches if match})
    try:
        return len(_decoder.decode(body or b"").events)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return 1
