"""Measure, and print the table of `bench/README.md`."""

import argparse
import random
import tempfile
import time
from pathlib import Path

from bench import commands, evidence
from bench.load import Measurement, request, send
from bench.measure import bare_flask, cpu_s, raw_insert, remove_bare_reviews, service_cpu_s
from tests.factories import NOTE, event
from tests.journeys.stack import Stack, running_stack, wait_until

ONE_CLIENT = 3_000
MANY_CLIENTS = 12_000
CLIENTS = 16
BATCHES = 1_000
BATCH = 100
SDK_BATCH = 50


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    parser.add_argument("--growth", action="store_true", help="measure on filled tables too, which takes minutes")
    arguments = parser.parse_args()
    rounds = arguments.rounds
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack, bare_flask(stack) as bare:
        lines = [_round(stack, *bare) for _ in range(rounds)]
        once = _command_line(stack) + (_growth(stack) if arguments.growth else [])
    print(f"\n{'':<58}{'limit':>12}{'measured':>12}{'ratio':>8}{'target':>8}")
    for entries in zip(*lines, strict=True):
        _print(sorted(entries, key=lambda entry: entry[3])[rounds // 2])
    for entry in once:
        _print(entry)


Line = tuple[str, float, float, float, str, str]


def _print(line: Line) -> None:
    name, limit, measured, ratio, unit, target = line
    print(f"{name:<58}{limit:>9.1f} {unit:<2}{measured:>9.1f} {unit:<2}{ratio:>8.2f}{target:>8}")


def _command_line(stack: Stack) -> list[Line]:
    libraries, command, wall = commands.start(stack)
    print(f"a command: {wall:.0f} ms", flush=True)
    return [_line("command line, CPU / importing flask, sqlalchemy, psycopg2", libraries, command, "ms", "<=1.6")]


def _growth(stack: Stack) -> list[Line]:
    """Measure what must not become slower; once, for it takes minutes to fill the tables."""
    purge = evidence.send_during_purge(stack)
    summary = evidence.read(stack)
    return [
        _line("evidence summary, 10,000,000 events / 10,000", summary[0] * 1e3, summary[1] * 1e3, "us", "<=1.5"),
        _line("evidence batch p50, during a purge / baseline", purge[0] * 1e3, purge[1] * 1e3, "us", "<=1.5"),
    ]


def _line(name: str, limit: float, measured: float, unit: str, target: str) -> Line:
    return name, limit, measured, measured / limit, unit, target


def _round(stack: Stack, bare_url: str, bare_pid: int) -> list[Line]:
    empty, empty_cpu = _bare(stack, bare_url, bare_pid, "/")
    stored, stored_cpu = _bare(stack, bare_url, bare_pid, "/reviews")
    remove_bare_reviews(stack)
    _outcomes(stack, 200, 1)
    single = _outcomes(stack, ONE_CLIENT, 1)[0]
    many, outcome_cpu = _outcomes(stack, MANY_CLIENTS, CLIENTS)
    rows_s, row_cpu = raw_insert(stack, BATCHES * BATCH, writers=2)
    sent_batches, event_cpu = _telemetry(stack, BATCH)
    sdk_event_cpu = _telemetry(stack, SDK_BATCH)[1]
    evidence_cpu = evidence.accept(stack, BATCHES, BATCH)[1]
    events_s = BATCHES * BATCH / sent_batches.seconds
    print(f"outcomes: {many.count / many.seconds:.0f} a second", flush=True)
    return [
        _line("outcome p50, one client / Flask", empty * 1e3, single.p50_ms * 1e3, "us", ""),
        _line("outcome p50, one client / Flask + its statement", stored * 1e3, single.p50_ms * 1e3, "us", "<=1.15"),
        _line("outcome CPU, 16 clients / Flask", empty_cpu, outcome_cpu, "us", ""),
        _line("outcome CPU, 16 clients / Flask + its statement", stored_cpu, outcome_cpu, "us", "<=1.2"),
        _line("telemetry CPU an event, accepted and persisted / raw row", row_cpu, event_cpu, "us", "<=0.8"),
        _line("telemetry CPU an event in batches of 50 / raw row", row_cpu, sdk_event_cpu, "us", "<=0.95"),
        _line("telemetry events a second over HTTP / raw rows, 2 writers", rows_s, events_s, "/s", ">=1.2"),
        _line("evidence CPU an event / telemetry CPU an event", event_cpu, evidence_cpu, "us", "<=1.1"),
    ]


def _bare(stack: Stack, url: str, pid: int, path: str) -> tuple[float, float]:
    """Measure a bare endpoint; returns p50 of one client in ms, and CPU us a request of 16, PostgreSQL included."""
    requests = [request(url, path, None, {"outcome": "success", "note": NOTE})]
    send(url, requests * 200, 1, 200)
    p50_ms = send(url, requests * ONE_CLIENT, 1, 200).p50_ms
    assert stack.postgres.process
    processes = (pid, stack.postgres.process.pid)
    before = cpu_s(*processes)
    send(url, requests * MANY_CLIENTS, CLIENTS, 200)
    return p50_ms, (cpu_s(*processes) - before) / MANY_CLIENTS * 1e6


def _outcomes(stack: Stack, number: int, clients: int) -> tuple[Measurement, float]:
    body = {"outcome": "success", "note": NOTE}
    requests = [request(stack.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(number)]
    before = service_cpu_s(stack)
    measured = send(stack.url, requests, clients, 200)
    wait_until(lambda: stack.value("SELECT count(*) FROM promotions") == 0, 60)
    return measured, (service_cpu_s(stack) - before) / number * 1e6


def _telemetry(stack: Stack, size: int) -> tuple[Measurement, float]:
    """Send batches of this many events; returns the times, and processor microseconds an event until it is stored."""
    requests = [
        request(stack.url, "/api/v2/telemetry/batches", stack.company.product_key, {"events": _events(size)})
        for _ in range(BATCHES)
    ]
    before = service_cpu_s(stack)
    measured = send(stack.url, requests, CLIENTS, 202)
    wait_until(lambda: stack.value("SELECT count(*) FROM telemetry_inbox") == 0, 120)
    time.sleep(0.5)
    return measured, (service_cpu_s(stack) - before) / BATCHES / size * 1e6


def _events(size: int) -> list[dict[str, object]]:
    """Return a batch: a thousand visits by five hundred customers, some twenty interactions each."""
    return [
        event(
            operation=f"/orders/:id/step-{n % 20}",
            statusCode=200,
            durationMs=12.5,
            customerRef=f"account_{visit % 500}",
            sessionRef=f"visit_{visit}",
            sessionSource="customer",
        )
        for n, visit in enumerate(random.choices(range(1000), k=size))
    ]


if __name__ == "__main__":
    main()
