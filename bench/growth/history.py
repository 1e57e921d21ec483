"""A past: interactions with time-ordered ids, their sessions, reviews, reports and counts, and retrievals."""

from datetime import UTC, datetime, timedelta

from app.interactions.counts import record_added
from bench.growth.site import Site

BATCH_SIZE = 500_000
DAYS = 90
SHARE_OF_TODAY = 10
"""A tenth of all interactions arrived today, the others evenly on the days before."""

# A version 4 UUID whose first 48 bits are the Unix time in milliseconds.
_INTERACTIONS = """
    INSERT INTO interactions (environment_id, id, received_at, surface, operation, classification, confirmed_by,
        confirmed_at, occurred_at, status_code, duration_ms, customer_ref, session_ref, session_source, outcome)
    SELECT %(environment)s,
           (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '4' || substr(random, 1, 3) || '8'
               || substr(random, 4, 15))::uuid,
           at, 'http_json', '/orders/:id/step-' || n %% 20,
           CASE WHEN has_review THEN 'confirmed' ELSE 'unclassified' END,
           CASE WHEN has_review THEN 'review' END, CASE WHEN has_review THEN at END, at, 200, 12.5,
           'account_' || n / 10 %% 5000, 'visit_' || n / 10, 'customer',
           CASE WHEN has_review THEN (ARRAY['success', 'partial', 'failure'])[n / 10 %% 3 + 1] END
    FROM (
        SELECT n, %(start)s::timestamptz + make_interval(secs => (n - %(first)s) * %(seconds)s / %(number)s) AS at,
               md5(n::text) AS random, n %% 10 = 0 AS has_review
        FROM generate_series(%(first)s::bigint, %(first)s + %(number)s - 1) n
    ) numbered
"""

_SINCE = "environment_id = %(environment)s AND received_at >= %(start)s AND received_at < %(end)s"

_DERIVED = (
    f"""
    INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at)
    SELECT environment_id, id, gen_random_uuid(), outcome, 'The order was found and its state was clear.', received_at
    FROM interactions WHERE {_SINCE} AND outcome IS NOT NULL ORDER BY id
    """,
    f"""
    INSERT INTO reports (environment_id, interaction_id, id, summary, impact, findings, created_at)
    SELECT environment_id, id, gen_random_uuid(), 'It helped, with a little friction.', 'helped', '[]', received_at
    FROM interactions WHERE {_SINCE} AND outcome = 'partial' ORDER BY id
    """,
    f"""
    INSERT INTO sessions (environment_id, source, ref, customer_ref, first_seen_at, last_seen_at)
    SELECT environment_id, 'customer', session_ref, customer_ref, min(received_at), max(received_at)
    FROM interactions WHERE {_SINCE} GROUP BY 1, 2, 3, 4 ON CONFLICT DO NOTHING
    """,
    f"""
    INSERT INTO context_retrievals (product_id, id, environment_id, purpose, signal_ids, created_at)
    SELECT %(product)s, gen_random_uuid(), environment_id, 'product_personalization', ARRAY[]::uuid[], received_at
    FROM interactions WHERE {_SINCE} AND outcome IS NOT NULL
    """,
    record_added(f"(SELECT * FROM interactions WHERE {_SINCE}) added"),
)

_TABLES = "interactions, reviews, reports, sessions, context_retrievals, interaction_changes, interaction_days"


def fill(site: Site, number: int) -> None:
    """Fill the environment of a site with this many interactions of the last 90 days."""
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    of_today = number // SHARE_OF_TODAY
    _fill(site, str(site.environment_id), 0, number - of_today, midnight - timedelta(days=DAYS - 1), midnight)
    _fill(site, str(site.environment_id), number - of_today, of_today, midnight, datetime.now(UTC))
    site.execute(f"VACUUM ANALYZE {_TABLES}")


def fill_expired(site: Site, environment_id: str, number: int) -> None:
    """Fill an environment with interactions that are past its retention."""
    end = datetime.now(UTC) - timedelta(days=DAYS + 10)
    _fill(site, environment_id, 0, number, end - timedelta(days=30), end)
    site.execute(f"VACUUM ANALYZE {_TABLES}")


def _fill(site: Site, environment_id: str, first: int, number: int, start: datetime, end: datetime) -> None:
    """Write evenly distributed interactions in pieces, the oldest first."""
    for offset in range(0, number, BATCH_SIZE):
        count = min(BATCH_SIZE, number - offset)
        piece_start = start + (end - start) * offset / number
        piece_end = start + (end - start) * (offset + count) / number
        values = {
            "environment": environment_id,
            "product": str(site.stack.company.product_id),
            "first": first + offset,
            "number": count,
            "start": piece_start,
            "end": piece_end,
            "seconds": (piece_end - piece_start).total_seconds(),
        }
        for statement in (_INTERACTIONS, *_DERIVED):
            site.execute(statement, **values)
