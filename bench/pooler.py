"""What a connection pooler in transaction mode costs a review: python -m bench.pooler --rounds 5."""

import argparse
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

from bench.load import request, send
from bench.measure import cpu_s
from tests.factories import NOTE
from tests.journeys.stack import Stack, running_stack
from tests.journeys.web import running_web
from tests.pgbouncer import running_pgbouncer

ONE_CLIENT = 500
MANY_CLIENTS = 3_000
CLIENTS = 16
POOL_SIZE = 8

UNPREPARED = {"AGENT_FEEDBACK_PREPARED_STATEMENTS": "false"}


def main() -> None:
    """Measure in turns and print the medians."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5, help="how often each variant is measured")
    rounds = parser.parse_args().rounds
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        stack = cleanup.enter_context(running_stack(folder))
        # Its jobs would be measured too.
        cleanup.enter_context(stack.stop_process("worker"))
        pgbouncer = cleanup.enter_context(
            running_pgbouncer(stack.environ["DATABASE_URL"], folder / "pgbouncer.log", POOL_SIZE)
        )
        variants = {
            "directly, prepared": cleanup.enter_context(running_web(stack)),
            "directly, not prepared": cleanup.enter_context(running_web(stack, **UNPREPARED)),
            "through PgBouncer, not prepared": cleanup.enter_context(
                running_web(stack, DATABASE_URL=pgbouncer.url, **UNPREPARED)
            ),
        }
        results: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
        for number in range(rounds + 1):
            for name, web in variants.items():
                measured = _measure(stack, web.url, web.process.pid, pgbouncer.process.pid)
                # The first round warms up.
                if number:
                    results[name].append(measured)
    print(f"\n{'':<34}{'p50, one client':>18}{'CPU, 16 clients':>18}{'ratio':>8}")
    base = statistics.median(cpu for _, cpu in results["directly, prepared"])
    for name, lines in results.items():
        p50, cpu = (statistics.median(line[index] for line in lines) for index in (0, 1))
        print(f"{name:<34}{p50 * 1e3:>15.0f} us{cpu:>15.0f} us{cpu / base:>8.2f}")


def _measure(stack: Stack, url: str, *processes: int) -> tuple[float, float]:
    """Return p50 of one client in ms, and the processor time of a review in us, PostgreSQL and PgBouncer included."""
    assert stack.postgres.process
    p50_ms = send(url, _reviews(stack, url, ONE_CLIENT), 1, 200).p50_ms
    requests = _reviews(stack, url, MANY_CLIENTS)
    before = cpu_s(*processes, stack.postgres.process.pid)
    send(url, requests, CLIENTS, 200)
    return p50_ms, (cpu_s(*processes, stack.postgres.process.pid) - before) / MANY_CLIENTS * 1e6


def _reviews(stack: Stack, url: str, number: int) -> list[bytes]:
    body = {"outcome": "success", "note": NOTE}
    return [request(url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(number)]


if __name__ == "__main__":
    main()
