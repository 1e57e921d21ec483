"""Exports hold what the database holds, once, whatever happens to a run."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.exports import service
from app.exports.files import Format
from app.exports.service import Export
from app.exports.state import ExportConflict
from app.telemetry import persistence
from tests.context_api import Clock
from tests.exports.fixtures import HOSTILE, NAMES, as_csv, export_to, read
from tests.factories import Company, create_company, event, send_events
from tests.reading.fixtures import NOW, Reader


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process has written outlives it anyway; test_kill.py waits for the disk."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)


def test_what_is_exported_is_what_the_read_api_shows(reader: Reader, filled: Company, tmp_path: Path) -> None:
    counts = export_to(tmp_path, filled)
    assert counts == {**dict.fromkeys(NAMES, len(HOSTILE)), "evidence_counts": 2}
    for name in ("interactions", "reviews", "reports"):
        assert read(tmp_path, name, "ndjson") == reader.items(name, order="oldest")
    assert {item["note"] for item in read(tmp_path, "reviews", "ndjson")} == set(HOSTILE)
    outcomes = read(tmp_path, "outcomes", "ndjson")
    assert {item["decisionId"] for item in outcomes} == {item["id"] for item in read(tmp_path, "decisions", "ndjson")}
    assert sum(item["events"] for item in read(tmp_path, "evidence_counts", "ndjson")) == 2
    assert (tmp_path / "reviews.ndjson").stat().st_mode & 0o077 == 0


def test_the_formats_hold_the_same(filled: Company, tmp_path: Path) -> None:
    for format_ in Format:
        export_to(tmp_path / format_, filled, format_)
    for name in NAMES:
        items = read(tmp_path / "ndjson", name, "ndjson")
        assert items
        assert read(tmp_path / "parquet", name, "parquet") == items
        rows = read(tmp_path / "csv", name, "csv")
        assert [{key: cell.removeprefix("'") for key, cell in row.items()} for row in rows] == list(map(as_csv, items))


def test_no_text_of_a_csv_begins_as_a_formula(filled: Company, tmp_path: Path) -> None:
    export_to(tmp_path, filled, "csv")
    cells = [row["note"] for row in read(tmp_path, "reviews", "csv")]
    assert [cell for cell in cells if cell[0] in "=+-@\t\r\n"] == []
    assert sum(cell.startswith("'") for cell in cells) == 6
    # A number stays one.
    assert read(tmp_path, "interactions", "csv")[0]["durationMs"] == "-0.5"


@pytest.mark.parametrize("format_", Format)
def test_a_list_without_rows_is_a_file_without_rows(company: Company, tmp_path: Path, format_: str) -> None:
    assert set(export_to(tmp_path, company, format_).values()) == {0}
    assert [read(tmp_path, name, format_) for name in NAMES] == [[]] * len(NAMES)


@pytest.mark.parametrize("format_", Format)
def test_the_same_command_adds_what_is_new(reader: Reader, filled: Company, tmp_path: Path, format_: str) -> None:
    export_to(tmp_path, filled, format_)
    first_items = read(tmp_path, "reviews", format_)
    reader.store_review(timedelta(minutes=1), note="The last one of all.")
    assert export_to(tmp_path, filled, format_)["reviews"] == 1
    assert export_to(tmp_path, filled, format_)["reviews"] == 0
    items = read(tmp_path, "reviews", format_)
    assert (items[:-1], items[-1]["note"]) == (first_items, "The last one of all.")
    assert len(read(tmp_path, "evidence_counts", format_)) == 2


def test_what_a_killed_run_has_begun_is_cut_off(filled: Company, tmp_path: Path) -> None:
    export_to(tmp_path, filled)
    path = tmp_path / "reviews.ndjson"
    content = path.read_text()
    path.write_text(content + '{"id": "half a')
    export_to(tmp_path, filled)
    assert path.read_text() == content


class Crash(Exception):
    """The process ends."""


@pytest.mark.parametrize("format_", Format)
def test_a_run_that_ends_anywhere_is_continued_without_gap_or_repetition(
    reader: Reader, filled: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 4)
    monkeypatch.setattr(service, "PART_ROWS", 4)
    export_to(tmp_path / "whole", filled, format_)
    save = service.save
    for crash_at in range(1, 100, 3):
        folder, numbers = tmp_path / str(crash_at), iter(range(1, 1000))

        def crash_or_save(*arguments: Any, crash_at: int = crash_at, numbers: Any = numbers) -> None:
            # After the rows are in their file, and before the state says so.
            if next(numbers) == crash_at:
                raise Crash
            save(*arguments)

        monkeypatch.setattr(service, "save", crash_or_save)
        try:
            export_to(folder, filled, format_)
        except Crash:
            monkeypatch.setattr(service, "save", save)
            export_to(folder, filled, format_)
        else:
            assert crash_at > 12
            break
        for name in NAMES:
            assert read(folder, name, format_) == read(tmp_path / "whole", name, format_)


def test_an_exported_parquet_list_has_parts(filled: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "BATCH_SIZE", 2)
    monkeypatch.setattr(service, "PART_ROWS", 4)
    export_to(tmp_path, filled, "parquet")
    names = sorted(path.name for path in tmp_path.glob("reviews*"))
    assert names == ["reviews-0002.parquet", "reviews-0003.parquet", "reviews.parquet"]
    assert pq.ParquetFile(tmp_path / "reviews.parquet").num_row_groups == 2


def test_what_may_still_appear_in_front_waits_for_the_next_run(
    reader: Reader, client: FlaskClient, company: Company, tmp_path: Path
) -> None:
    reader.store_interaction(timedelta(seconds=30))
    send_events(client, company, event())
    with transaction():
        session().execute(text("UPDATE telemetry_inbox SET received_at = :at"), {"at": NOW - timedelta(minutes=1)})
    assert export_to(tmp_path, company)["interactions"] == 0
    persistence.persist_waiting_batches()
    assert export_to(tmp_path, company)["interactions"] == 2


def test_what_was_sent_a_moment_before_is_waited_for_and_exported(
    reader: Reader, client: FlaskClient, company: Company, tmp_path: Path, clock: Clock
) -> None:
    reader.store_interaction(timedelta(hours=1))
    reader.store_review(NOW - clock.now)
    send_events(client, company, event())
    clock.advance(seconds=1)
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        persistence.persist_waiting_batches()
        clock.advance(seconds=seconds)

    counts = export_to(tmp_path, company, pause=pause)
    assert (counts["interactions"], counts["reviews"], pauses) == (2, 1, [10.0])
    assert export_to(tmp_path, company, pause=pause) == {**dict.fromkeys(NAMES, 0)}
    assert len(pauses) == 1


def test_since_leaves_out_what_is_older(reader: Reader, company: Company, tmp_path: Path) -> None:
    for days in (1, 5, 9):
        reader.store_review(timedelta(days=days))
    options = {"since": "5d", "since_at": NOW - timedelta(days=5)}
    assert export_to(tmp_path, company, **options)["reviews"] == 2
    # What `5d` means does not move with a later run.
    assert export_to(tmp_path, company, since="5d", since_at=NOW - timedelta(days=4))["reviews"] == 0


def test_another_companys_rows_are_not_exported(filled: Company, tmp_path: Path) -> None:
    with transaction():
        other_company = create_company()
    assert set(export_to(tmp_path, other_company).values()) == {0}


def test_exports_in_several_formats_go_side_by_side(reader: Reader, filled: Company, tmp_path: Path) -> None:
    for format_ in Format:
        assert export_to(tmp_path, filled, format_)["reviews"] == 9
    reader.store_review(timedelta(minutes=1))
    for format_ in Format:
        assert export_to(tmp_path, filled, format_)["reviews"] == 1
        assert len(read(tmp_path, "reviews", format_)) == 10


def test_another_export_in_the_same_directory_is_refused(filled: Company, tmp_path: Path) -> None:
    export_to(tmp_path, filled)
    with pytest.raises(ExportConflict, match="without --since"):
        export_to(tmp_path, filled, since="1d", since_at=NOW)
    with transaction():
        other_company = create_company()
    with pytest.raises(ExportConflict, match=f"--environment {filled.environment_id}"):
        export_to(tmp_path, other_company)


def test_files_that_are_not_those_of_the_export_are_left_alone(filled: Company, tmp_path: Path) -> None:
    (tmp_path / "reviews.ndjson").write_text("mine\n")
    with pytest.raises(ExportConflict, match=r"has reviews\.ndjson"):
        export_to(tmp_path, filled)
    assert (tmp_path / "reviews.ndjson").read_text() == "mine\n"


def test_a_file_that_was_cut_and_a_part_that_is_missing_are_noticed(filled: Company, tmp_path: Path) -> None:
    for format_, sentence in (("ndjson", "is shorter than it was"), ("parquet", "is missing")):
        export_to(tmp_path / format_, filled, format_)
        (tmp_path / format_ / f"reviews.{format_}").unlink()
        with pytest.raises(ExportConflict, match=sentence):
            export_to(tmp_path / format_, filled, format_)


def test_two_runs_at_once_are_refused(filled: Company, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run_again(name: str, row_count: int) -> None:
        export_to(tmp_path, filled)

    with pytest.raises(ExportConflict, match="Another export is writing"):
        service.run(Export(filled.environment_id, Format.NDJSON, tmp_path), run_again)
