"""Measure the memory of an idle `bin/dev`: `python -m bench.memory`."""

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import psutil

from tests.conftest import ROOT
from tests.journeys.stack import free_port, wait_until

TARGET_MB = 400

NAMES = (
    ("app.cli.dev", "bin/dev"),
    ("gunicorn", "web"),
    ("workers.beat", "beat"),
    (" beat ", "beat"),
    (" worker ", "worker"),
    ("postgres", "PostgreSQL"),
    ("valkey", "Valkey"),
)
"""What a command line contains, and whose it is."""


class Memory(NamedTuple):
    """Memory of processes in MB: all that is resident, and with what is shared divided among those that share it."""

    rss: float
    pss: float


def main() -> None:
    """Start the development copy, leave it alone, and add its processes up."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle-s", type=int, default=20, help="for how long nothing happens before the measurement")
    idle_s = parser.parse_args().idle_s
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-m", "app.cli.dev", "--port", str(free_port()), "--data-dir", f"{folder}/data"]
        with log.open("w") as output, subprocess.Popen(command, cwd=ROOT, stdout=output) as process:
            try:
                wait_until(lambda: "until Ctrl-C" in log.read_text(), 120)
                time.sleep(idle_s)
                memory = _measure(psutil.Process(process.pid))
            finally:
                process.send_signal(signal.SIGINT)
    print(f"{'':<12}{'RSS':>10}{'PSS':>10}")
    for name, (rss, pss) in memory.items():
        print(f"{name:<12}{rss:>7.0f} MB{pss:>7.0f} MB")
    rss, pss = (sum(values) for values in zip(*memory.values(), strict=True))
    print(f"{'together':<12}{rss:>7.0f} MB{pss:>7.0f} MB   target {TARGET_MB} MB")


def _measure(root: psutil.Process) -> dict[str, Memory]:
    memory: dict[str, Memory] = {}
    for process in [root, *root.children(recursive=True)]:
        line = " ".join(process.cmdline()) or process.name()
        name = next((name for part, name in NAMES if part in line), "other")
        info = process.memory_full_info()
        earlier = memory.get(name, Memory(0, 0))
        memory[name] = Memory(earlier.rss + info.rss / 1e6, earlier.pss + info.pss / 1e6)
    return memory


if __name__ == "__main__":
    main()
