"""Compare a service with few interactions and one with many, in turns, and print the table of `bench/README.md`."""

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.growth.history import fill, fill_expired
from bench.growth.operations import OPERATIONS, batch_request
from bench.growth.site import Site, running_site
from tests.conftest import ROOT
from tests.journeys.stack import wait_until

FEW = 10_000
TARGET = 1.15
ROLL_UP = "roll-up of a minute of a day of 1,000,000"
ROLL_UP_SHARE = 0.005
"""Of a core, once a minute."""
PURGE_TARGET = 1.5
LATENCY_BATCHES = 300

_PURGE = "from workers.celery import flask_app as f; from app.retention import service as s\nwith f.app_context():"
_PURGE += "\n    while not s.expire_feedback().is_complete: pass"


def main() -> None:
    """Fill two services and measure them in shuffled rounds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--interactions", type=int, default=10_000_000, help="of the filled service")
    parser.add_argument("--purged", type=int, default=1_000_000, help="interactions that are purged, 0 for none")
    parser.add_argument("--rounds", type=int, default=5, help="the middle one of so many counts")
    parser.add_argument("--only", default="", help="only operations with this in their name")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running_site(Path(folder) / "few") as few,
        running_site(Path(folder) / "many") as many,
    ):
        fill(few, FEW)
        fill(many, arguments.interactions)
        print("filled", flush=True)
        _compare(few, many, arguments.rounds, arguments.only, arguments.interactions)
        if arguments.purged:
            _print_purge(many, arguments.purged)


def _compare(few: Site, many: Site, rounds: int, name_part: str, number: int) -> None:
    sites = {"few": few, "many": many}
    measured: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        names = [name for name in OPERATIONS if name_part in name]
        for name in random.sample(names, len(names)):
            for site_name in random.sample(list(sites), 2):
                started_at = time.monotonic()
                print(name, site_name, flush=True)
                cost = OPERATIONS[name](sites[site_name])
                print(f"{name}, {site_name}: {cost:.1f} us, took {time.monotonic() - started_at:.1f} s", flush=True)
                measured.setdefault((name, site_name), []).append(cost)
    print(f"\n{'':<60}{FEW:>14,}{number:>14,}{'ratio':>8}{'target':>8}")
    for name in OPERATIONS:
        if name_part in name:
            costs = [statistics.median(measured[name, site_name]) for site_name in sites]
            print(f"{name:<60}{costs[0]:>11.1f} us{costs[1]:>11.1f} us{costs[1] / costs[0]:>8.2f}{'<=1.15':>8}")
            if name == ROLL_UP:
                print(f"{'  share of a core':<60}{'':>14}{'':>14}{costs[1] / 60e6:>8.2%}{'<=0.5%':>8}")


def _print_purge(site: Site, number: int) -> None:
    baseline_ms, purge_ms = _send_during_purge(site, number)
    name = f"telemetry batch p50, during a purge of {number:,} / baseline"
    print(f"{name:<60}{baseline_ms:>11.2f} ms{purge_ms:>11.2f} ms{purge_ms / baseline_ms:>8.2f}{'<=1.5':>8}")


def _send_during_purge(site: Site, number: int) -> tuple[float, float]:
    """Return the milliseconds of a batch of one client, without a purge and during one, with a worker and beat."""
    stack = site.stack
    environment = stack.flask("environment", "create", "--product", str(stack.company.product_id), "--name", "purged")
    environment_id: str = environment["environmentId"]
    fill_expired(site, environment_id, number)
    for name in ("worker", "beat"):
        stack.supervisor.start(name, stack.commands[name])
    wait_until(lambda: stack.value("SELECT count(*) FROM interaction_changes") == 0, 120)
    baseline_ms = _latency_ms(site)
    remaining = "SELECT count(*) FROM (SELECT FROM interactions WHERE environment_id = %s LIMIT 1) remaining"
    with subprocess.Popen([sys.executable, "-c", _PURGE], env=stack.environ, cwd=ROOT) as purge:
        changes = "SELECT count(*) FROM interaction_changes WHERE environment_id = %s"
        wait_until(lambda: stack.value(changes, environment_id) > 0, 60)
        purge_ms = _latency_ms(site)
        if stack.value(remaining, environment_id) == 0:
            print("the purge was over too early to measure", flush=True)
        purge.wait()
    return baseline_ms, purge_ms


def _latency_ms(site: Site) -> float:
    return site.send([batch_request(site) for _ in range(LATENCY_BATCHES)], 202, clients=1).p50_ms


if __name__ == "__main__":
    main()
