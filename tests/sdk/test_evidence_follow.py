"""Following logs as they grow, and logs that moved between two runs."""

import gzip
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sdk.endpoint import wait_until
from tests.sdk.evidence_logs import BINGBOT, CHROME, combined_line, command, environ, ship, wait_for_follower, write
from tests.sdk.evidence_service import Service


@contextmanager
def run_follower(service: Service, folder: Path, *logs: str | Path) -> Iterator["subprocess.Popen[str]"]:
    """Run the command with --follow while the block runs, and end it as systemd would."""
    with subprocess.Popen(
        command(folder, "--follow", "--flush-seconds", "0.1", *logs),
        env=environ(service.url),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.stderr
            output = process.stderr.read()
            code = process.wait(20)
    assert (code, "Traceback" in output) == (0, False), output


def bots(*numbers: int) -> list[str]:
    return [combined_line(at=number) for number in numbers]


def wait_for_events(service: Service, *numbers: int) -> None:
    wait_until(lambda: len(service.stored) >= len(numbers), 20)
    wait_for_follower()
    times = sorted(event["observedAt"] for event in service.events)
    assert times == [f"1970-01-01T00:00:{number:02d}.000Z" for number in numbers]


def test_what_is_written_arrives_within_seconds(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0)
        write(log, combined_line(CHROME), *bots(1))
        wait_for_events(service, 0, 1)


def test_a_line_is_sent_when_it_has_ended(service: Service, tmp_path: Path) -> None:
    log, line = write(tmp_path / "access.log", *bots(0)), bots(1)[0]
    with run_follower(service, tmp_path, log):
        write(log, line[:60])
        wait_for_events(service, 0)
        write(log, line[60:])
        wait_for_events(service, 0, 1)


def test_a_full_batch_does_not_wait_and_the_rest_not_long(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *[combined_line(at=number) for number in range(1200)])
    with run_follower(service, tmp_path, "--flush-seconds", "2", log):
        wait_until(lambda: len(service.stored) == 1200, 20)
    assert [len(batch["events"]) for batch in service.batches] == [500, 500, 200]


def test_a_log_that_is_renamed_is_read_to_its_end_and_the_new_one_too(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0)
        os.replace(log, tmp_path / "access.log.1")
        # nginx goes on with the old one until it is told.
        write(tmp_path / "access.log.1", *bots(1))
        wait_for_follower()
        write(log, *bots(2))
        wait_for_follower()
        write(tmp_path / "access.log.1", *bots(3))
        wait_for_events(service, 0, 1, 2, 3)


def test_a_log_that_is_copied_and_emptied_goes_on(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0, 1, 2))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0, 1, 2)
        shutil.copy(log, tmp_path / "access.log.1")
        os.truncate(log, 0)
        wait_for_follower()
        write(log, *bots(3))
        wait_for_events(service, 0, 1, 2, 3)


def test_a_log_that_is_emptied_and_outgrows_itself_at_once_goes_on(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0)
        os.truncate(log, 0)
        write(log, *bots(1, 2, 3))
        wait_for_events(service, 0, 1, 2, 3)


def test_a_log_that_is_not_there_yet_is_waited_for(service: Service, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with run_follower(service, tmp_path, log, write(tmp_path / "other.log", *bots(0))):
        wait_for_events(service, 0)
        write(log, *bots(1))
        wait_for_events(service, 0, 1)


def test_a_service_that_is_away_is_waited_for(service: Service, tmp_path: Path) -> None:
    service.replies = [(503, b"", "")] * 3
    log = write(tmp_path / "access.log", *bots(0))
    with run_follower(service, tmp_path, log):
        write(log, *bots(1))
        wait_for_events(service, 0, 1)


def test_a_follower_goes_on_where_the_last_one_ended(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0)
    write(log, *bots(1))
    os.replace(log, tmp_path / "access.log.1")
    write(log, *bots(2))
    with run_follower(service, tmp_path, log):
        wait_for_events(service, 0, 1, 2)
    assert sum(len(batch["events"]) for batch in service.batches) == 3


def test_between_two_runs_a_log_may_be_renamed(service: Service, tmp_path: Path) -> None:
    log = write(tmp_path / "access.log", *bots(0))
    ship(service.url, tmp_path, log)
    write(log, *bots(1))
    os.replace(log, tmp_path / "access.log-20261121")
    ship(service.url, tmp_path, write(log, *bots(2)))
    ship(service.url, tmp_path, log, tmp_path / "access.log-20261121")
    wait_for_events(service, 0, 1, 2)
    assert sum(len(batch["events"]) for batch in service.batches) == 3


def test_between_two_runs_a_log_may_be_copied_emptied_and_packed(service: Service, tmp_path: Path) -> None:
    padding = [combined_line(CHROME, at=number) for number in range(20)]
    log = write(tmp_path / "access.log", *padding, *bots(0))
    ship(service.url, tmp_path, log)
    write(log, *bots(1))
    (tmp_path / "access.log.1.gz").write_bytes(gzip.compress(log.read_bytes()))
    os.truncate(log, 0)
    write(log, *bots(2))
    ship(service.url, tmp_path, log)
    ship(service.url, tmp_path, log, tmp_path / "access.log.1.gz")
    wait_for_events(service, 0, 1, 2)
    assert sum(len(batch["events"]) for batch in service.batches) == 3


def test_a_log_may_move_with_its_neighbours(service: Service, tmp_path: Path) -> None:
    old, new = tmp_path / "access.log.1", tmp_path / "access.log"
    write(old, *bots(0))
    write(new, combined_line(BINGBOT, at=1))
    ship(service.url, tmp_path, old, new)
    os.replace(old, tmp_path / "access.log.2")
    os.replace(new, old)
    write(new, *bots(2))
    ship(service.url, tmp_path, new, old, tmp_path / "access.log.2")
    wait_for_events(service, 0, 1, 2)
    assert sum(len(batch["events"]) for batch in service.batches) == 3
