"""Measure how long clients wait while workers are replaced: `python -m bench.deploys`."""

import argparse
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.journeys.crowd import Crowd
from tests.journeys.stack import Stack, running_stack
from tests.journeys.web import Web, running_web

WARM_UP_S = 3
OBSERVED_S = 7
PAUSE_S = 0.2

TARGET_MS = 250


def main() -> None:
    """Measure the longest silence and the slowest answer of 64 clients around each event."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    events: dict[str, Callable[[Web], None]] = {
        "nothing": lambda _: None,
        "SIGHUP": lambda web: os.kill(web.process.pid, signal.SIGHUP),
        "a worker killed with SIGKILL": _kill_worker,
        "a new release (SIGUSR2, SIGTERM)": Web.replace_master,
    }
    print(f"{'64 clients':<36}{'answers':>9}{'failed':>8}{'silence':>11}{'slowest':>11}   target {TARGET_MS} ms")
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        for name, event in events.items():
            _print(name, [_observe(stack, event) for _ in range(rounds)])
        _print("max_requests = 150", [_observe(stack, events["nothing"], "--max-requests 150") for _ in range(rounds)])


def _observe(stack: Stack, event: Callable[[Web], None], options: str = "") -> Crowd:
    with running_web(stack, GUNICORN_CMD_ARGS=options) as web:
        time.sleep(1)
        crowd = Crowd(web.url, stack.company, pause_s=PAUSE_S)
        with crowd.running():
            time.sleep(WARM_UP_S)
            # The first seconds open connections and prepare statements.
            crowd.attempts.clear()
            event(web)
            time.sleep(OBSERVED_S)
    return crowd


def _kill_worker(web: Web) -> None:
    os.kill(min(web.workers()), signal.SIGKILL)


def _print(name: str, crowds: list[Crowd]) -> None:
    silences = [crowd.longest_silence_s() * 1000 for crowd in crowds]
    slowest = [max(attempt.seconds for attempt in crowd.attempts) * 1000 for crowd in crowds]
    answers, failed = sum(len(crowd.attempts) for crowd in crowds), sum(len(crowd.failures()) for crowd in crowds)
    middle, slow = statistics.median(silences), statistics.median(slowest)
    print(f"{name:<36}{answers:>9}{failed:>8}{middle:>8.0f} ms{slow:>8.0f} ms", flush=True)


if __name__ == "__main__":
    main()
