"""The files in which web processes count."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from config import web_metrics
from config.web_metrics import FOLDER, LOCK, free_slot, give_slot, list_binds, prepare_folder, remove_folder
from tests.conftest import ROOT

OTHER_MASTER = """
import os, sys, time
from config import web_metrics
web_metrics.prepare_folder(sys.argv[1])
print(os.environ[web_metrics.FOLDER], flush=True)
time.sleep(60)
"""


@pytest.fixture(autouse=True)
def no_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_metrics, "_used_slots", set())
    monkeypatch.setattr(web_metrics, "_lock", None)
    monkeypatch.delenv(FOLDER, raising=False)
    # What prepare_folder sets is taken back after the test.
    monkeypatch.setenv(FOLDER, "")


def worker() -> SimpleNamespace:
    new_worker = SimpleNamespace()
    give_slot(None, new_worker)
    return new_worker


def test_a_slot_belongs_to_one_living_worker(tmp_path: Path) -> None:
    prepare_folder(str(tmp_path))
    first, second, third = worker(), worker(), worker()
    assert [first.metrics_slot, second.metrics_slot, third.metrics_slot] == [1, 2, 3]
    free_slot(None, second)
    assert [worker().metrics_slot, worker().metrics_slot] == [2, 4]


def test_what_a_dead_worker_has_counted_stays_and_what_it_held_goes(tmp_path: Path) -> None:
    prepare_folder(str(tmp_path))
    folder = Path(os.environ[FOLDER])
    for name in ("counter_1.db", "gauge_livesum_1.db", "gauge_livesum_11.db"):
        (folder / name).touch()
    free_slot(None, worker())
    assert {path.name for path in folder.iterdir()} == {LOCK, "counter_1.db", "gauge_livesum_11.db"}


def test_a_master_makes_its_folder_once_and_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER_MASTER, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout
        left = killed.stdout.readline().strip()
        killed.kill()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        used = running.stdout.readline().strip()
        assert used != left
        prepare_folder(str(tmp_path))
        made = os.environ[FOLDER]
        prepare_folder(str(tmp_path))
        assert os.environ[FOLDER] == made
        assert {str(path) for path in tmp_path.iterdir()} == {made, used}
        running.kill()
    assert oct(Path(made).stat().st_mode)[-3:] == "700"
    remove_folder(None)
    assert not Path(made).exists()


@pytest.mark.parametrize(
    ("port", "host", "binds"),
    [("9464", "", ["127.0.0.1:9464"]), ("9464", "10.0.0.5", ["10.0.0.5:9464"]), ("", "", []), ("many", "", [])],
)
def test_the_port_of_the_metrics_is_local_by_default(port: str, host: str, binds: list[str]) -> None:
    environ = {"AGENT_FEEDBACK_METRICS_PORT": port, "AGENT_FEEDBACK_METRICS_HOST": host}
    assert list_binds(environ) == binds
