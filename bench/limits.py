"""Measure what limits and quotas cost a review: `python -m bench.limits`."""

import argparse
import os
import statistics
import tempfile
import time
import uuid
from contextlib import ExitStack
from pathlib import Path

from app.core.limits.counters import SharedCounters
from app.core.limits.limiter import Limiter
from app.core.limits.server import CounterServer
from bench.load import request, send
from bench.measure import cpu_s, service_cpu_s
from config.limits import LimitName, QuotaName, limit_variable, quota_variable
from config.settings import Settings
from tests.factories import NOTE
from tests.journeys.stack import Stack, running_stack, wait_until

OUTCOMES = 4_000
CLIENTS = 16
LOOPS = 50_000

NO_LIMITS = {**dict.fromkeys(map(limit_variable, LimitName), "0"), **dict.fromkeys(map(quota_variable, QuotaName), "0")}


def main() -> None:
    """Measure reviews with and without limits, by turns, and the limiter alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    with ExitStack() as cleanup:
        folders = [Path(cleanup.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        stacks = [
            cleanup.enter_context(running_stack(folder, **variables))
            for folder, variables in zip(folders, (NO_LIMITS, {}), strict=True)
        ]
        figures = [[_outcome_us(stack) for stack in stacks] for _ in range(rounds)]
        own_us, server_us = _limiter_us(stacks[1])
    without, limited = (statistics.median(column) for column in zip(*figures, strict=True))
    print(f"\n{'outcome CPU without limits':<50}{without:>9.1f} us")
    print(f"{'outcome CPU with the default limits':<50}{limited:>9.1f} us{limited / without:>8.3f}")
    print(f"{'the limiter alone, in the web process':<50}{own_us:>9.1f} us{own_us / without:>8.3f}{'<=0.05':>8}")
    print(f"{'its counters on Valkey':<50}{server_us:>9.1f} us{server_us / without:>8.3f}")


def _outcome_us(stack: Stack) -> float:
    """Return the processor time of a review in web, worker, PostgreSQL and Valkey."""
    body = {"outcome": "success", "note": NOTE}
    requests = [request(stack.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(OUTCOMES)]
    assert stack.valkey.process
    before = service_cpu_s(stack) + cpu_s(stack.valkey.process.pid)
    send(stack.url, requests, CLIENTS, 200)
    wait_until(lambda: stack.value("SELECT count(*) FROM promotions") == 0, 60)
    return (service_cpu_s(stack) + cpu_s(stack.valkey.process.pid) - before) / OUTCOMES * 1e6


def _limiter_us(stack: Stack) -> tuple[float, float]:
    """Return the processor time of a review's checks in their process, and on the server."""
    settings = Settings.from_env(stack.environ)
    counters = SharedCounters(CounterServer(settings.counters_url or "", os.urandom(32)), lambda: 0.0)
    limiter = Limiter(settings, counters)
    workspace_id, environment_id = uuid.uuid4(), uuid.uuid4()
    interactions = [uuid.uuid4() for _ in range(LOOPS)]
    assert stack.valkey.process
    own, server = time.process_time(), cpu_s(stack.valkey.process.pid)
    for interaction_id in interactions:
        limiter.count_request((LimitName.ADDRESS, "203.0.113.7"))
        capability = (environment_id, interaction_id)
        limiter.count_request((LimitName.CAPABILITY, capability), (LimitName.WORKSPACE, workspace_id))
        with limiter.use_quota(QuotaName.REVIEWS, environment_id):
            pass
    counters.share()
    own_s, server_s = time.process_time() - own, cpu_s(stack.valkey.process.pid) - server
    return own_s / LOOPS * 1e6, server_s / LOOPS * 1e6


if __name__ == "__main__":
    main()
