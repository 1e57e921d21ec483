"""Compare a review with one feedback write of Phoenix and of MLflow: `python -m bench.peers --rounds 3`.

Each peer is installed from PyPI, at a fixed version, into an environment of its own in a cache folder; that takes some
minutes once. Each runs as it does by default, with its SQLite file, which costs it no second process; MLflow has two
web processes, as the service has. What counts is the processor time of all processes of each, of 16 clients, in turns.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from bench.load import request, send
from bench.measure import bare_flask, cpu_s
from bench.subjects import CLIENTS, Bench
from tests.factories import NOTE
from tests.journeys.stack import free_port, running_stack, wait_until

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "agent-feedback-bench"
START_TIMEOUT_S = 600
IDLE_CPU_S = 0.05
"""Who uses less processor time within half a second has stored what was queued."""


class Peer(NamedTuple):
    """A running peer, and the bytes of so many different feedback writes."""

    pid: int
    url: str
    writes: Callable[[int], Sequence[bytes]]
    target: float
    """How many times as much as a review it should cost at least."""


def main() -> None:
    """Measure everything in one run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3, help="the middle one of so many counts")
    parser.add_argument("--writes", type=int, default=2_000, help="of each in a round")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where the environments of the peers are")
    arguments = parser.parse_args()
    phoenix = _install(arguments.cache, "arize-phoenix", "20.26.1")
    mlflow = _install(arguments.cache, "mlflow", "3.17.2")
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory()))
        stack = cleanup.enter_context(running_stack(folder / "service", AGENT_FEEDBACK_TRUSTED_PROXIES="0"))
        url, pid = cleanup.enter_context(bare_flask(stack))
        bench = Bench(stack, url, pid, [], arguments.writes // 2)
        peers = {
            **cleanup.enter_context(_phoenix(phoenix, folder)),
            "MLflow 3.17.2, assessment": cleanup.enter_context(_mlflow(mlflow, folder)),
        }
        bench.outcome()
        rounds = [_round(bench, peers) for _ in range(arguments.rounds)]
    print(f"\n{'CPU of one write, 16 clients':<46}{'measured':>12}{'review':>12}{'times':>8}{'target':>8}")
    for name, peer in peers.items():
        costs = [(costs_us[name], costs_us["review"]) for costs_us in rounds]
        middle, review = (statistics.median(column) for column in zip(*costs, strict=True))
        ratio = statistics.median(cost / review for cost, review in costs)
        print(f"{name:<46}{middle:>9.0f} us{review:>9.0f} us{ratio:>8.1f}{f'>={peer.target:.0f}':>8}")


def _round(bench: Bench, peers: dict[str, Peer]) -> dict[str, float]:
    subjects: dict[str, Callable[[], float]] = {
        name: lambda peer=peer: _cost_us(peer, 2 * bench.requests) for name, peer in peers.items()
    }  # type: ignore[misc]  # a default binds the peer
    subjects["review"] = lambda: bench.outcome().cpu_us
    names = random.sample(list(subjects), len(subjects))
    return {name: subjects[name]() for name in names}


def _cost_us(peer: Peer, number: int) -> float:
    """Return the processor microseconds of a write, with what is stored after the answer."""
    requests = peer.writes(number)
    _wait_until_idle(peer.pid)
    before = cpu_s(peer.pid)
    send(peer.url, requests, CLIENTS, 200)
    _wait_until_idle(peer.pid)
    return (cpu_s(peer.pid) - before) / number * 1e6


def _wait_until_idle(pid: int) -> None:
    def is_idle() -> bool:
        before = cpu_s(pid)
        time.sleep(0.5)
        return cpu_s(pid) - before < IDLE_CPU_S

    wait_until(is_idle, 60)


def _install(cache: Path, package: str, version: str) -> Path:
    """Return the folder of the programs of a package, which is installed unless it is there."""
    folder = cache / f"{package}-{version}"
    complete = folder / "complete"
    if not complete.exists():
        print(f"installing {package} {version} into {folder}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        command = [folder / "bin" / "pip", "install", "--quiet", f"{package}=={version}"]
        subprocess.run(command, check=True, timeout=1800)
        complete.touch()
    return folder / "bin"


@contextmanager
def _running(command: Sequence[str | Path], folder: Path, url: str, **variables: str) -> Iterator[int]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("AGENT_FEEDBACK_", "PYTHON"))}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env={**environ, **variables}, stdout=log, stderr=log)
        try:
            wait_until(lambda: process.poll() is not None or _answers(url), START_TIMEOUT_S)
            if process.poll() is not None:
                raise SystemExit((folder / "log").read_text()[-2000:])
            yield process.pid
        finally:
            process.terminate()
            process.wait(30)


@contextmanager
def _phoenix(programs: Path, folder: Path) -> Iterator[dict[str, Peer]]:
    """Run Phoenix with one span, whose annotations are written."""
    folder = folder / "phoenix"
    folder.mkdir()
    port = free_port()
    url, span_id = f"http://127.0.0.1:{port}", uuid.uuid4().hex[:16]
    variables = {
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free_port()),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }

    def writes(number: int) -> list[bytes]:
        return [request(url, "/v1/span_annotations?sync=false", None, _annotation(span_id)) for _ in range(number)]

    def durable_writes(number: int) -> list[bytes]:
        return [request(url, "/v1/span_annotations?sync=true", None, _annotation(span_id)) for _ in range(number)]

    with _running([programs / "phoenix", "serve"], folder, f"{url}/healthz", **variables) as pid:
        now = datetime.now(UTC).isoformat()
        span = {"name": "call", "span_kind": "TOOL", "start_time": now, "end_time": now, "status_code": "OK"}
        context = {"trace_id": uuid.uuid4().hex, "span_id": span_id}
        _post(f"{url}/v1/projects/default/spans", {"data": [{**span, "context": context}]})
        # The span is stored a moment after it was accepted.
        wait_until(lambda: _status(f"{url}/v1/span_annotations?sync=true", _annotation(span_id)) == 200, 30)
        yield {
            "Phoenix 20.26.1, annotation, synchronous": Peer(pid, url, durable_writes, 10),
            "Phoenix 20.26.1, annotation, queued": Peer(pid, url, writes, 4),
        }


def _annotation(span_id: str) -> dict[str, object]:
    result = {"label": "success", "score": 1, "explanation": NOTE}
    annotation = {"span_id": span_id, "name": "outcome", "annotator_kind": "LLM", "result": result}
    return {"data": [{**annotation, "identifier": str(uuid.uuid4())}]}


@contextmanager
def _mlflow(programs: Path, folder: Path) -> Iterator[Peer]:
    """Run MLflow with one trace, which is assessed."""
    folder = folder / "mlflow"
    folder.mkdir()
    port = free_port()
    url, trace_id = f"http://127.0.0.1:{port}", f"tr-{uuid.uuid4().hex}"
    command = [programs / "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "2"]

    def writes(number: int) -> list[bytes]:
        path = f"/api/3.0/mlflow/traces/{trace_id}/assessments"
        return [request(url, path, None, _assessment(trace_id)) for _ in range(number)]

    # It starts its web processes by the name of their program.
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "MLFLOW_DISABLE_TELEMETRY": "true"}
    with _running(command, folder, f"{url}/health", **variables) as pid:
        location = {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": {"experiment_id": "0"}}
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z"
        info = {"trace_id": trace_id, "trace_location": location, "request_time": now, "state": "OK"}
        _post(f"{url}/api/3.0/mlflow/traces", {"trace": {"trace_info": info}})
        yield Peer(pid, url, writes, 8)


def _assessment(trace_id: str) -> dict[str, object]:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}Z"
    return {
        "assessment": {
            "trace_id": trace_id,
            "assessment_name": "outcome",
            "source": {"source_type": "LLM_JUDGE", "source_id": "agent"},
            "create_time": now,
            "last_update_time": now,
            "feedback": {"value": "success"},
            "rationale": NOTE,
        }
    }


def _answers(url: str) -> bool:
    try:
        return _status(url) == 200
    except OSError:
        return False


def _post(url: str, body: object) -> None:
    status = _status(url, body)
    if status >= 300:
        raise SystemExit(f"{url} answered {status}")


def _status(url: str, body: object = None) -> int:
    parts = urlsplit(url)
    connection = HTTPConnection(str(parts.hostname), parts.port, timeout=30)
    try:
        content = None if body is None else json.dumps(body)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request("POST" if content else "GET", target, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return response.status
    finally:
        connection.close()


if __name__ == "__main__":
    main()
