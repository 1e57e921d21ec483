"""How fast the evidence exporter reads lines that match nothing, against a bare loop over the same lines.

    .venv/bin/python -m bench.exporter --rounds 3

The whole command runs, with its start; nothing is sent, since nothing matches.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.sdk.evidence_logs import CHROME, EPOCH, cloudflare, combined

LINES = 1_000_000
AT_LEAST_A_SECOND = 100_000

_BARE = "import sys\nfor line in open(sys.argv[1], 'rb'): line.split(b' ')"
_AGENTS = (
    CHROME,
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
)


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    rounds = parser.parse_args().rounds
    print(f"{'':<46}{'bare loop':>14}{'exporter':>14}{'ratio':>8}{'target':>16}")
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("combined", _combined), ("Cloudflare Logpush", _cloudflare)):
            log = _written(Path(folder) / "access.log", make)
            measured = sorted((_round(log) for _ in range(rounds)), key=lambda pair: pair[1] / pair[0])[rounds // 2]
            bare, exporter = (LINES / seconds for seconds in measured)
            title = f"{name}, lines a second and core"
            print(f"{title:<46}{bare:>14,.0f}{exporter:>14,.0f}{exporter / bare:>8.2f}{AT_LEAST_A_SECOND:>14,}/s")


def _round(log: Path) -> tuple[float, float]:
    """Return the processor seconds of the bare loop and of the exporter."""
    ship = [sys.executable, "-m", "agent_feedback", "evidence", "ship", "--dry-run", str(log)]
    return _cpu_s([sys.executable, "-c", _BARE, str(log)]), _cpu_s(ship)


def _cpu_s(command: list[str]) -> float:
    before = os.times()
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _written(log: Path, make: Callable[[int], str]) -> Path:
    with log.open("w") as file:
        # One in ten is made, and the rest repeats it: that they differ does not matter to who reads on.
        some = [make(number) for number in range(LINES // 10)]
        for _ in range(10):
            file.writelines(some)
    return log


def _combined(number: int) -> str:
    return combined(
        random.choice(_AGENTS), "https://www.google.com/", at=EPOCH + number // 50, path=f"/products/{number}?q=shoes"
    )


def _cloudflare(number: int) -> str:
    return cloudflare(random.choice(_AGENTS), "https://www.google.com/", RayID=f"{number:016x}")


if __name__ == "__main__":
    main()
