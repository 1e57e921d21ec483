"""Whatever kills the exporter, and whenever: the next run sends what is missing and nothing counts twice."""

import gzip
import os
import random
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from tests.sdk.endpoint import wait_until
from tests.sdk.evidence_logs import CHROME, combined_line, command, environ, ship, write
from tests.sdk.evidence_service import Service

EVENTS = 15_000
MAX_KILLS = 25
"""On a busy machine each may come before the first batch; an idle one has sent everything before."""


def lines(begin: int, end: int) -> list[str]:
    """Return lines of which every second one counts; the time tells the events apart."""
    return [
        combined_line(CHROME if at % 2 else "GPTBot/1.2", at=at, path=f"/{'p' * (at % 97)}") for at in range(begin, end)
    ]


def list_delivered(service: Service) -> list[int]:
    return sorted(int(datetime.fromisoformat(event["observedAt"]).timestamp()) for event in service.events)


def run_for(seconds: float, service: Service, folder: Path, *arguments: str | Path) -> bool:
    """Run the command and kill it after a while; returns whether it had ended by itself."""
    with subprocess.Popen(command(folder, *arguments), env=environ(service.url), stderr=subprocess.DEVNULL) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            process.kill()
            return False


def kill_after(batches: int, service: Service, folder: Path, log: Path) -> None:
    """Run the command and kill it when so many batches have come in."""
    with subprocess.Popen(command(folder, log), env=environ(service.url), stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: len(service.batches) == batches, 30)
        process.kill()


@pytest.mark.parametrize("is_compressed", [False, True])
def test_killed_at_any_moment_every_event_counts_exactly_once(
    is_compressed: bool, service: Service, tmp_path: Path
) -> None:
    service.pause_s = 0.05
    log = tmp_path / "access.log"
    text = "".join(lines(0, 2 * EVENTS)).encode()
    log.write_bytes(gzip.compress(text) if is_compressed else text)
    moments = random.Random(7)
    kills = 0
    while kills < MAX_KILLS and not run_for(0.2 + 0.4 * moments.random(), service, tmp_path, log):
        kills += 1
        service.loses_answers = moments.randrange(2)
    service.loses_answers = 0
    assert kills > 3
    ship(service.url, tmp_path, log)
    assert list_delivered(service) == list(range(0, 2 * EVENTS, 2))


def test_killed_while_the_log_grows_and_is_rotated(service: Service, tmp_path: Path) -> None:
    service.pause_s = 0.02
    log, at = tmp_path / "access.log", 0
    moments = random.Random(11)
    for step in range(12):
        if step % 4 == 3:
            # What was written since the last run goes along with the renamed log.
            os.replace(log, tmp_path / f"access.log.{step}")
        text = "".join(lines(at, at + 400)).encode()
        at += 400
        # A line that has half been written when the exporter comes by.
        write(log, text[:-40])
        run_for(0.1 + 0.4 * moments.random(), service, tmp_path, log)
        write(log, text[-40:])
        if step % 4 == 2:
            ship(service.url, tmp_path, log)
    ship(service.url, tmp_path, log)
    assert list_delivered(service) == list(range(0, at, 2))


def test_killed_between_the_stages_of_writing_a_checkpoint(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *lines(0, 20))
    ship(service.url, tmp_path, log)
    # What a kill in the middle of writing leaves behind.
    (tmp_path / "state" / "evidence.json.abc.new").write_text('{"version": 1, "key": "')
    write(log, *lines(20, 40))
    ship(service.url, tmp_path, log)
    assert list_delivered(service) == list(range(0, 40, 2))
    assert len(service.batches) == 2


def test_what_has_been_answered_is_not_sent_again(service: Service, tmp_path: Path) -> None:
    service.hangs_after = 2
    log = write(tmp_path / "access.log", *lines(0, 2800))
    kill_after(3, service, tmp_path, log)
    assert [len(batch["events"]) for batch in service.batches] == [500, 500, 400]
    service.hangs_after = 1_000_000
    ship(service.url, tmp_path, log)
    assert [len(batch["events"]) for batch in service.batches[3:]] == [400]
    assert list_delivered(service) == list(range(0, 2800, 2))


def test_killed_right_after_sending_the_ids_are_the_same_again(service: Service, tmp_path: Path) -> None:
    service.pause_s = 30
    log = write(tmp_path / "access.log", *lines(0, 20))
    kill_after(1, service, tmp_path, log)
    service.pause_s = 0
    write(log, *lines(20, 40))
    ship(service.url, tmp_path, log)
    assert service.batches[1]["events"][:10] == service.batches[0]["events"]
    assert list_delivered(service) == list(range(0, 40, 2))
