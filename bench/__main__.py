"""Measure, and print the table of `bench/README.md`.

Every round measures everything once, in an order of its own and each after a checkpoint; a line is the middle of its
rounds, and its ratio the middle of the ratios within a round.
"""

import argparse
import random
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psycopg2

from bench import commands, context, evidence, sdk, sdk_node
from bench.measure import bare_flask, raw_insert
from bench.subjects import CLIENTS, Bench
from tests.journeys.stack import Stack, running_stack

Round = dict[str, Any]
EVIDENCE_BATCH = 100


class Line(NamedTuple):
    """One line of the table: what is compared, how it is read from a round, its unit and its target."""

    name: str
    limit: Callable[[Round], float]
    measured: Callable[[Round], float]
    unit: str = "us"
    target: str = ""


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="the middle one of so many counts")
    parser.add_argument("--requests", type=int, default=2_000, help="of one client in a round; many send twice as many")
    parser.add_argument("--events", type=int, default=100_000, help="of telemetry, of evidence and of raw rows")
    parser.add_argument("--growth", action="store_true", help="measure on filled tables too, which takes minutes")
    arguments = parser.parse_args()
    with _bench(arguments.requests, arguments.events) as bench:
        rounds = [_round(bench) for _ in range(arguments.rounds)]
        print(f"{datetime.now(UTC):%Y-%m-%d}, {arguments.rounds} rounds\n")
        print(f"{'':<62}{'limit':>12}{'measured':>13}{'ratio':>8}{'target':>8}")
        for line in LINES:
            _print(line, rounds)
        _print(_COMMAND_LINE, [{"command": commands.start(bench.stack)}])
        if arguments.growth:
            for line, filled_round in _growth(bench.stack):
                _print(line, [filled_round])


@contextmanager
def _bench(requests: int, events: int) -> Iterator[Bench]:
    # No proxy is in front, as with the bare endpoint.
    settings = {"AGENT_FEEDBACK_TRUSTED_PROXIES": "0"}
    with (
        tempfile.TemporaryDirectory() as folder,
        running_stack(Path(folder), **settings) as stack,
        bare_flask(stack) as (url, pid),
    ):
        bench = Bench(stack, url, pid, context.fill(stack, context.FEW, context.PROBED), requests, events)
        # Each process connects, prepares its statements and fills its caches before the first round.
        warm_up = Bench(stack, url, pid, bench.users, 200)
        for measure in (warm_up.bare, warm_up.stored, warm_up.outcome, warm_up.retrieve, warm_up.ask, warm_up.answer):
            measure()
        yield bench


def _round(bench: Bench) -> Round:
    stack = bench.stack
    subjects: dict[str, Callable[[], Any]] = {
        "bare": bench.bare,
        "stored": bench.stored,
        "outcome": bench.outcome,
        "retrieve": bench.retrieve,
        "ask": bench.ask,
        "answer": bench.answer,
        "rows": lambda: raw_insert(stack, bench.events, writers=2),
        "telemetry 100": lambda: bench.telemetry(100),
        "telemetry 50": lambda: bench.telemetry(50),
        "evidence": lambda: evidence.accept(stack, bench.events // EVIDENCE_BATCH, EVIDENCE_BATCH)[1],
        "sdk": lambda: sdk.added_us(stack),
        "node": lambda: sdk_node.measure(stack),
    }
    names = list(subjects)
    random.shuffle(names)
    measured: Round = {}
    for name in names:
        checkpoint(stack)
        measured[name] = subjects[name]()
    return measured


def checkpoint(stack: Stack) -> None:
    """Write every changed page out, so that no subject pays for what the one before it has changed."""
    # The embedded server's own role may do it; the roles of the service may not.
    with closing(psycopg2.connect(stack.postgres.url())) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        cursor.execute("CHECKPOINT")


def _p50(name: str) -> Callable[[Round], float]:
    return lambda measured: float(measured[name].p50_us)


def _cpu(name: str) -> Callable[[Round], float]:
    return lambda measured: float(measured[name].cpu_us)


def _persisted(name: str) -> Callable[[Round], float]:
    return lambda measured: float(measured[name].persisted_s)


def _item(name: str, position: int) -> Callable[[Round], float]:
    return lambda measured: float(measured[name][position])


LINES = (
    Line("review p50, one client / Flask", _p50("bare"), _p50("outcome")),
    Line("review p50, one client / Flask + its statement", _p50("stored"), _p50("outcome"), target="<=1.15"),
    Line(f"review CPU, {CLIENTS} clients / Flask", _cpu("bare"), _cpu("outcome")),
    Line(f"review CPU, {CLIENTS} clients / Flask + its statement", _cpu("stored"), _cpu("outcome"), target="<=1.2"),
    Line("context retrieval p50 / Flask", _p50("bare"), _p50("retrieve"), target="<=2.6"),
    Line("request for context p50 / Flask", _p50("bare"), _p50("ask"), target="<=6"),
    Line("answer p50 / Flask", _p50("bare"), _p50("answer"), target="<=6"),
    Line("telemetry, batches of 100, CPU an event / raw row", _item("rows", 1), _cpu("telemetry 100"), target="<=0.8"),
    Line("telemetry, batches of 50, CPU an event / raw row", _item("rows", 1), _cpu("telemetry 50"), target="<=0.95"),
    Line(
        "telemetry, events persisted a second / raw rows, 2 writers",
        _item("rows", 0),
        _persisted("telemetry 100"),
        "/s",
        ">=1.2",
    ),
    Line("telemetry, the same in batches of 50", _item("rows", 0), _persisted("telemetry 50"), "/s"),
    Line(
        "evidence CPU an event / telemetry CPU an event",
        _cpu("telemetry 100"),
        lambda measured: measured["evidence"],
        target="<=1.1",
    ),
    Line(
        "added to a response of 2 KiB by the Python SDK / target",
        lambda _: sdk.TARGET_US,
        lambda measured: measured["sdk"],
        target="<=1",
    ),
    Line(
        "added to a response of 2 KiB by the Node SDK / target",
        lambda _: sdk_node.RESPONSE_TARGET_US,
        _item("node", 0),
        target="<=1",
    ),
    Line("loading the Node SDK, CPU / target", lambda _: sdk_node.IMPORT_TARGET_US, _item("node", 1), target="<=1"),
)

_COMMAND_LINE = Line(
    "a command, CPU / importing flask, sqlalchemy, psycopg2", _item("command", 0), _item("command", 1), "ms", "<=1.6"
)


def _growth(stack: Stack) -> Iterator[tuple[Line, Round]]:
    """Measure what must not become slower; once, for it takes minutes to fill the tables."""
    checkpoint(stack)
    purge = evidence.send_during_purge(stack)
    checkpoint(stack)
    summary = evidence.read(stack)
    for name, (few_ms, many_ms) in (
        ("evidence summary, 10,000,000 events / 10,000", summary),
        ("evidence batch p50, during a purge / baseline", purge),
    ):
        line = Line(name, _item("pair", 0), _item("pair", 1), target="<=1.5")
        yield line, {"pair": (few_ms * 1e3, many_ms * 1e3)}


def _print(line: Line, rounds: list[Round]) -> None:
    limits, values = [line.limit(measured) for measured in rounds], [line.measured(measured) for measured in rounds]
    ratio = statistics.median(value / limit for value, limit in zip(values, limits, strict=True))
    limit, value, unit = statistics.median(limits), statistics.median(values), line.unit
    print(f"{line.name:<62}{limit:>9.1f} {unit:<2}{value:>10.1f} {unit:<2}{ratio:>8.2f}{line.target:>8}", flush=True)


if __name__ == "__main__":
    main()
