"""Measure the latency of other clients beside hundreds of slow ones: `python -m bench.slow_clients`."""

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
from tests.journeys.slow_clients import SlowClients
from tests.journeys.stack import Stack, running_stack

REQUESTS = 2_000
CLIENTS = 4
DEADLINE_S = 10
"""The default of AGENT_FEEDBACK_REQUEST_DEADLINE_S."""

TARGET = 2.0


class ClientSetup(NamedTuple):
    """How the other clients reach the service, and whether over persistent connections."""

    name: str
    url: str
    tls: ssl.SSLContext | None
    is_persistent: bool


def main() -> None:
    """Measure without and beside slow clients, which come back whenever they are cut off."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        running_stack(Path(folder)) as stack,
        running_proxy(Path(folder) / "nginx", stack.url) as proxy,
    ):
        direct = [ClientSetup("directly, kept connections", stack.url, None, True)]
        direct += [ClientSetup("directly, a connection a request", stack.url, None, False)]
        behind = [ClientSetup("behind nginx, kept connections", proxy.url, proxy.tls, True)]
        lines = _compare(stack, direct, SlowClients(stack.url, is_reconnecting=True), rounds)
        lines += _compare(stack, behind, SlowClients(proxy.url, "127.0.0.3", proxy.tls, is_reconnecting=True), rounds)
    print(f"\n{'review, 4 clients':<36}{'baseline':>20}{'beside slow clients':>22}{'p99':>8}{'target':>8}")
    print(f"{'':<36}{'p50':>10}{'p99':>10}{'p50':>12}{'p99':>10}{'ratio':>8}")
    for line in lines:
        print(line)


def _compare(stack: Stack, setups: list[ClientSetup], slow_clients: SlowClients, rounds: int) -> list[str]:
    baseline: dict[str, list[tuple[float, float]]] = {setup.name: [] for setup in setups}
    beside_slow: dict[str, list[tuple[float, float]]] = {setup.name: [] for setup in setups}
    for setup in setups:
        _measure(stack, setup, 200)
    for _ in range(rounds):
        for setup in setups:
            baseline[setup.name].append(_measure(stack, setup))
    with slow_clients.running():
        time.sleep(DEADLINE_S + 2)
        for _ in range(rounds):
            for setup in setups:
                beside_slow[setup.name].append(_measure(stack, setup))
    print(
        f"cut off so far: {dict(sorted((kind.name, n) for (kind, _), n in slow_clients.statuses().items()))}",
        flush=True,
    )
    return [_line(name, _middle(baseline[name]), _middle(beside_slow[name])) for name in baseline]


def _measure(stack: Stack, setup: ClientSetup, number: int = REQUESTS) -> tuple[float, float]:
    """Return p50 and p99 in ms."""
    body = {"outcome": "success", "note": NOTE}
    requests = [request(setup.url, "/api/v2/outcomes", stack.company.capability(), body) for _ in range(number)]
    measurement = send(setup.url, requests, CLIENTS, 200, setup.tls, setup.is_persistent)
    return measurement.p50_ms, measurement.p99_ms


def _middle(percentiles: list[tuple[float, float]]) -> tuple[float, float]:
    p50s, p99s = zip(*percentiles, strict=True)
    return statistics.median(p50s), statistics.median(p99s)


def _line(name: str, baseline: tuple[float, float], beside_slow: tuple[float, float]) -> str:
    return (
        f"{name:<36}{baseline[0]:>7.2f} ms{baseline[1]:>7.2f} ms{beside_slow[0]:>9.2f} ms{beside_slow[1]:>7.2f} ms"
        f"{beside_slow[1] / baseline[1]:>8.2f}{f'<={TARGET}':>8}"
    )


if __name__ == "__main__":
    main()
