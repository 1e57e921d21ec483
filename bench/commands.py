"""What a command of `flask …` costs to start, against the imports that none of them can do without."""

import statistics
import subprocess
import time

from bench.measure import own_cpu_s
from tests.conftest import ROOT
from tests.journeys.stack import BIN, Stack

RUNS = 7
LIBRARIES = (str(BIN / "python"), "-c", "import flask, sqlalchemy.orm, psycopg2")
COMMAND = (str(BIN / "flask"), "key", "list")


def start(stack: Stack) -> tuple[float, float, float]:
    """Return CPU in ms of the libraries alone and of a command, and the wall time in ms of a command."""
    libraries = [_run(stack, LIBRARIES)[0] for _ in range(RUNS)]
    commands = [_run(stack, COMMAND) for _ in range(RUNS)]
    return (
        statistics.median(libraries) * 1e3,
        statistics.median(cpu for cpu, _ in commands) * 1e3,
        statistics.median(wall for _, wall in commands) * 1e3,
    )


def _run(stack: Stack, command: tuple[str, ...]) -> tuple[float, float]:
    cpu, wall = own_cpu_s(), time.perf_counter()
    subprocess.run(command, cwd=ROOT, env=stack.environ, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return own_cpu_s() - cpu, time.perf_counter() - wall
