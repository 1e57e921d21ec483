"""Measure how honest clients fare beside hundreds of slow ones: `python -m bench.slow_clients`."""

import argparse
import ssl
import statistics
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.load import request, send
from tests.factories import NOTE
from tests.journeys.proxy import running_proxy
from tests.journeys.slow_clients import Crowd
from tests.journeys.stack import Stack, running_stack

REQUESTS = 2_000
CLIENTS = 4
DEADLINE_S = 10
"""The default of AGENT_FEEDBACK_REQUEST_DEADLINE_S."""

TARGET = 2.0


class Way(NamedTuple):
    """How the honest clients reach the service."""

    name: str
    url: str
    tls: ssl.SSLContext | None
    is_kept: bool


def main() -> None:
    """Measure in peace and beside slow clients, which come back whenever they are cut off."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        running_stack(Path(folder)) as stack,
        running_proxy(Path(folder) / "nginx", stack.url) as proxy,
    ):
        direct = [Way("directly, kept connections", stack.url, None, True)]
        direct += [Way("directly, a connection a request", stack.url, None, False)]
        behind = [Way("behind nginx, kept connections", proxy.url, proxy.tls, True)]
        lines = _compare(stack, direct, Crowd(stack.url, is_stubborn=True), rounds)
        lines += _compare(stack, behind, Crowd(proxy.url, "127.0.0.3", proxy.tls, is_stubborn=True), rounds)
    print(f"\n{'review, 4 clients':<36}{'in peace':>20}{'beside slow clients':>22}{'p99':>8}{'target':>8}")
    print(f"{'':<36}{'p50':>10}{'p99':>10}{'p50':>12}{'p99':>10}{'ratio':>8}")
    for line in lines:
        print(line)


def _compare(stack: Stack, ways: list[Way], crowd: Crowd, rounds: int) -> list[str]:
    peace: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
    siege: dict[str, list[tuple[float, float]]] = {way.name: [] for way in ways}
    for way in ways:
        _measure(stack, way, 200)
    for _ in range(rounds):
        for way in ways:
            peace[way.name].append(_measure(stack, way))
    with crowd.at_work():
        time.sleep(DEADLINE_S + 2)
        for _ in range(rounds):
            for way in ways:
                siege[way.name].append(_measure(stack, way))
    print(f"cut off so far: {dict(sorted((kind.name, n) for (kind, _), n in crowd.statuses().items()))}", flush=True)
    return [_line(name, _middle(peace[name]), _middle(siege[name])) for name in peace]


def _measure(stack: Stack, way: Way, number: int = REQUESTS) -> tuple[float, float]:
    """Return p50 and p99 in ms."""
    body = {"outcome": "success", "note": NOTE}
    requests = [request(way.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(number)]
    measured = send(way.url, requests, CLIENTS, 200, way.tls, way.is_kept)
    return measured.p50_ms, measured.p99_ms


def _middle(measured: list[tuple[float, float]]) -> tuple[float, float]:
    p50s, p99s = zip(*measured, strict=True)
    return statistics.median(p50s), statistics.median(p99s)


def _line(name: str, peace: tuple[float, float], siege: tuple[float, float]) -> str:
    return (
        f"{name:<36}{peace[0]:>7.2f} ms{peace[1]:>7.2f} ms{siege[0]:>9.2f} ms{siege[1]:>7.2f} ms"
        f"{siege[1] / peace[1]:>8.2f}{f'<={TARGET}':>8}"
    )


if __name__ == "__main__":
    main()
