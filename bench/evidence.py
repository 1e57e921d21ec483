"""Evidence: what an event costs, whether a summary of ten million is as quick as one of ten thousand, and whether a
purge is noticed by who sends.
"""

import random
import statistics
import subprocess
import sys
import time
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg2

from app import create_app
from app.core.database import transaction
from app.core.jobs import Job, JobNotifier
from app.evidence.queries import summarize
from bench.load import Measurement, request, send
from bench.measure import service_cpu_s
from config.settings import Settings
from tests.conftest import ROOT
from tests.factories import SOURCE, observation
from tests.journeys.stack import Stack, wait_until

CLIENTS = 16
PATH = "/api/v1/evidence/http-requests/batches"
KINDS: list[dict[str, Any]] = [
    {"agentToken": "GPTBot", "networkEvidence": {"method": "published_ip_range"}},
    {"agentToken": "ChatGPT-User", "networkEvidence": {"method": "cloudflare_verified_bot"}},
    {"agentToken": "ClaudeBot"},
    {"agentToken": "Googlebot", "networkEvidence": {"method": "forward_confirmed_reverse_dns"}},
    {"referrerHost": "chatgpt.com"},
    {"agentToken": "Claude-User", "referrerHost": "claude.ai"},
]

READINGS = 60
FEW_EVENTS, MANY_EVENTS = 10_000, 10_000_000
PURGED_EVENTS = 1_000_000
BATCHES_SENT = 300

# Events as the service stores them, with what they change of the counts. A large odd step spreads them over all days,
# however few there are.
_FILL = """
    WITH added AS (
        INSERT INTO evidence_events (environment_id, digest, source_digest, source_kind, source_provider, observed_at,
            method, response_status, agent_token, actor_provider, fetch_class, network_method)
        SELECT %(environment)s, sha256(('event' || n)::bytea), sha256('source'::bytea), 'cdn_log', 'cdn' || n %% 2,
            %(newest)s - make_interval(secs => n::bigint * 7919 %% %(seconds)s), 'GET', 200, 'GPTBot',
            (ARRAY['openai', 'anthropic', 'google', 'perplexity'])[n %% 4 + 1],
            (ARRAY['crawling', 'search', 'user_fetch'])[n %% 3 + 1],
            (ARRAY[NULL, 'published_ip_range', 'cloudflare_verified_bot'])[n / 7 %% 3 + 1]
        FROM generate_series(%(first)s, %(last)s) n
        RETURNING *
    )
    INSERT INTO evidence_changes (environment_id, day_on, source_kind, source_provider, actor_provider, fetch_class,
        network_method, referral_provider, events)
    SELECT environment_id, (observed_at AT TIME ZONE 'UTC')::date, source_kind, source_provider, actor_provider,
        fetch_class, coalesce(network_method, ''), '', count(*)
    FROM added GROUP BY 1, 2, 3, 4, 5, 6, 7
"""

_PURGE = "from workers.celery import flask_app as f; from app.retention import service as s\nwith f.app_context():"
_PURGE += "\n    while not s.expire_evidence().is_complete: pass"


def accept(stack: Stack, batches: int, batch: int) -> tuple[Measurement, float]:
    """Send batches and have them rolled up; returns the times, and processor microseconds an event."""
    requests = [_request(stack, batch) for _ in range(batches)]
    before = service_cpu_s(stack)
    measurement = send(stack.url, requests, CLIENTS, 200)
    _roll_up(stack)
    time.sleep(0.5)
    return measurement, (service_cpu_s(stack) - before) / batches / batch * 1e6


def read(stack: Stack, many: int = MANY_EVENTS) -> tuple[float, float]:
    """Return how long a summary takes of few and of many events, in milliseconds."""
    company = [uuid.UUID(str(id_)) for id_ in (stack.company.workspace_id, stack.company.product_id)]
    environments = [_environment(stack), _environment(stack)]
    for environment_id, number in zip(environments, (FEW_EVENTS, many), strict=True):
        _fill(stack, environment_id, number, datetime.now(UTC), 90)
    _roll_up(stack)
    app = create_app(Settings.from_env(stack.environ))
    times: dict[uuid.UUID, list[float]] = {environment_id: [] for environment_id in environments}
    with app.app_context():
        for _ in range(READINGS):
            for environment_id in environments:
                started_at = time.perf_counter()
                with transaction():
                    summarize(*company, environment_id, 90)
                times[environment_id].append(time.perf_counter() - started_at)
    few, many_ms = (statistics.median(times[environment_id]) * 1e3 for environment_id in environments)
    return few, many_ms


def send_during_purge(stack: Stack) -> tuple[float, float]:
    """Return the milliseconds of a batch of one client without a purge, and while a million events are purged."""
    environment_id = _environment(stack)
    _fill(stack, environment_id, PURGED_EVENTS, datetime.now(UTC) - timedelta(days=200), 30)
    _roll_up(stack)
    baseline_ms = _latency(stack)
    remaining = "SELECT count(*) FROM (SELECT FROM evidence_events WHERE environment_id = %s LIMIT 1) rows"
    command = [sys.executable, "-c", _PURGE]
    with subprocess.Popen(command, env=stack.environ, cwd=ROOT) as purge:
        # A purge records the first change of an environment that nobody sends to.
        statement = "SELECT count(*) FROM evidence_changes WHERE environment_id = %s"
        wait_until(lambda: stack.value(statement, str(environment_id)) > 0, 30)
        purge_ms = _latency(stack)
        assert stack.value(remaining, str(environment_id)) == 1, "the purge was over too early to measure"
        purge.wait()
    assert stack.value(remaining, str(environment_id)) == 0
    return baseline_ms, purge_ms


def _roll_up(stack: Stack) -> None:
    """Have everything rolled up now: the minute until the next time would be measured as well."""
    JobNotifier(stack.environ["REDIS_URL"]).notify(Job.ROLL_UP_EVIDENCE)
    wait_until(lambda: stack.value("SELECT count(*) FROM evidence_changes") == 0, 90)


def _latency(stack: Stack) -> float:
    return send(stack.url, [_request(stack, 100) for _ in range(BATCHES_SENT)], 1, 200).p50_ms


def _request(stack: Stack, number: int) -> bytes:
    events = [observation(**kind) for kind in random.choices(KINDS, k=number)]
    return request(stack.url, PATH, stack.company.company_key, {"schemaVersion": 1, "source": SOURCE, "events": events})


def _environment(stack: Stack) -> uuid.UUID:
    environment = stack.flask("environment", "create", "--product", str(stack.company.product_id), "--name", "bench")
    return uuid.UUID(environment["environmentId"])


def _fill(stack: Stack, environment_id: uuid.UUID, number: int, newest: datetime, days: int) -> None:
    """Write events in pieces, so that none of the service's time-outs is met."""
    with closing(psycopg2.connect(stack.database_url)) as connection, connection.cursor() as cursor:
        for first in range(0, number, 500_000):
            last = min(first + 500_000, number) - 1
            values = {"environment": str(environment_id), "newest": newest, "seconds": days * 86_400 - 1}
            cursor.execute(_FILL, {**values, "first": first, "last": last})
            connection.commit()
        connection.autocommit = True
        cursor.execute("VACUUM ANALYZE evidence_events, evidence_days")
