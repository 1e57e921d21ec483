"""Measure what metrics and traces cost a review: `python -m bench.metrics`."""

import argparse
import os
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from app.core.metrics.counting import Metrics
from bench.load import request, send
from bench.measure import service_cpu_s
from config.web_metrics import FOLDER
from tests.factories import NOTE
from tests.journeys.collector import running_collector
from tests.journeys.stack import Stack, free_port, running_stack, wait_until

OUTCOMES = 3_000
CLIENTS = 16
LOOPS = 100_000

OFF, METRICS, SAMPLED, TRACES = "neither", "metrics", "traces, one in twenty", "traces, every request"


def main() -> None:
    """Measure reviews without and with them, in turns, and the counting of a request alone."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    figures: dict[str, list[float]] = {}
    with ExitStack() as cleanup:
        collector = cleanup.enter_context(running_collector())
        stacks = {
            name: cleanup.enter_context(
                running_stack(Path(cleanup.enter_context(tempfile.TemporaryDirectory())), **variables)
            )
            for name, variables in _variables(collector.url).items()
        }
        for _ in range(rounds):
            for name in random.sample(list(stacks), len(stacks)):
                figures.setdefault(name, []).append(_outcome_us(stacks[name]))
                collector.spans.clear()
    limit = statistics.median(figures[OFF])
    for name in stacks:
        # Pairs of one round differ less from one minute to the next than medians do.
        ratio = statistics.median(on / off for on, off in zip(figures[name], figures[OFF], strict=True))
        print(f"outcome CPU, {name:<32}{statistics.median(figures[name]):>9.1f} us{ratio:>8.3f}")
    own_us = _counting_us()
    print(f"{'counting a request alone':<45}{own_us:>9.2f} us{own_us / limit:>8.3f}{'<=0.01':>8}")


def _variables(collector_url: str) -> dict[str, dict[str, str]]:
    endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector_url, "OTEL_LOGS_EXPORTER": "none"}
    sampler = {"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.05"}
    return {
        OFF: {},
        METRICS: {"AGENT_FEEDBACK_METRICS_PORT": str(free_port())},
        SAMPLED: endpoint | sampler,
        TRACES: endpoint,
    }


def _outcome_us(stack: Stack) -> float:
    """Return the processor time of a review in web, worker and PostgreSQL."""
    body = {"outcome": "success", "note": NOTE}
    requests = [request(stack.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(OUTCOMES)]
    before = service_cpu_s(stack)
    send(stack.url, requests, CLIENTS, 200)
    wait_until(lambda: stack.value("SELECT count(*) FROM promotions") == 0, 60)
    # What is sent to the collector belongs to the request that it tells of.
    time.sleep(6)
    return (service_cpu_s(stack) - before) / OUTCOMES * 1e6


def _counting_us() -> float:
    """Return the processor time of counting a request in files, as under gunicorn."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ[FOLDER] = folder
        # It reads that variable as it is imported.
        from app.core.metrics.prometheus import PrometheusMetrics  # noqa: PLC0415  # see above

        metrics: Metrics = PrometheusMetrics()
        started_at = time.process_time()
        for _ in range(LOOPS):
            metrics.count_request("/api/v2/outcomes", "POST", 200, 0.0012)
        return (time.process_time() - started_at) / LOOPS * 1e6


if __name__ == "__main__":
    main()
