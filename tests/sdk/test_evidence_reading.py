"""Blocks of whole lines, and the checkpoint of logs that are rotated, copied or compressed."""

import contextlib
import gzip
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from agent_feedback.evidence import checkpoint as checkpoint_module
from agent_feedback.evidence import log_file
from agent_feedback.evidence.checkpoint import Checkpoint, InvalidCheckpoint, LogProgress, locked
from agent_feedback.evidence.log_file import LogFile, whole_lines
from hypothesis import given
from hypothesis import strategies as st

from tests.sdk.evidence_logs import combined_line, write

LONG_LINE = b"x" * 5000


def reader(chunks: list[bytes]) -> Callable[[], bytes]:
    remaining_chunks = [chunk for chunk in chunks if chunk]
    return lambda: remaining_chunks.pop(0) if remaining_chunks else b""


@given(st.lists(st.binary(max_size=6) | st.sampled_from([b"\n", b"a\n", b"a\nb\n"]), max_size=20), st.booleans())
def test_chunks_of_a_log_become_whole_lines_at_their_offsets(chunks: list[bytes], is_complete: bool) -> None:
    text = b"".join(chunks)
    blocks = list(whole_lines(reader(chunks), 1000, is_complete=is_complete))
    complete_text = text if is_complete else text[: text.rfind(b"\n") + 1]
    assert b"".join(block.lines for block in blocks) == complete_text
    assert all(text[block.start - 1000 : block.end - 1000] == block.lines for block in blocks)
    assert all(block.lines.endswith(b"\n") for block in blocks[: None if not is_complete else -1])


def test_a_line_that_is_too_long_is_skipped_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MAX_LINE_BYTES", 10)
    chunks = [b"first\n", b"y" * 11, b"y" * 10, b"y\nnext", b"\nlast\n"]
    blocks = list(whole_lines(reader(chunks), 0, is_complete=False))
    assert b"".join(block.lines for block in blocks) == b"first\nnext\nlast\n"
    assert sum(block.skipped_line_count for block in blocks) == 1
    assert [b"".join(chunks)[block.start : block.end] for block in blocks] == [block.lines for block in blocks]


def test_a_compressed_log_has_the_offsets_of_its_text(tmp_path: Path) -> None:
    archive = tmp_path / "access.log.2.gz"
    archive.write_bytes(gzip.compress(b"one\ntwo\n") + gzip.compress(b"three\nfour"))
    log = LogFile(archive)
    assert b"".join(block.lines for block in log.blocks(4)) == b"two\nthree\nfour"
    log.close()


def test_what_comes_before_the_damage_of_an_archive_is_read(tmp_path: Path) -> None:
    archive = tmp_path / "damaged.gz"
    archive.write_bytes(gzip.compress(os.urandom(50_000).hex().encode() + b"\n") + gzip.compress(LONG_LINE)[:-20])
    log, text = LogFile(archive), bytearray()
    with pytest.raises(log_file.UNREADABLE):
        list(log.blocks(0))
    with contextlib.suppress(*log_file.UNREADABLE):
        for block in log.blocks(0):
            text += block.lines
    assert len(text) == 100_001
    log.close()


@pytest.mark.parametrize("create", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_an_error_at_once(tmp_path: Path, create: Callable[[Path], None]) -> None:
    create(tmp_path / "log")
    with pytest.raises(OSError, match="no regular file"):
        LogFile(tmp_path / "log")


def open_checkpoint(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path / "evidence.json")


def recognise(checkpoint: Checkpoint, path: Path) -> LogProgress:
    log = LogFile(path)
    progress = checkpoint.recognise(path, log.inode, log.head, None if log.is_compressed else log.size)
    log.close()
    return progress


def test_a_log_is_recognised_after_a_restart_a_rename_and_growth(tmp_path: Path) -> None:
    path = write(tmp_path / "access.log", combined_line())
    checkpoint = open_checkpoint(tmp_path)
    log = recognise(checkpoint, path)
    checkpoint.advance(log, 50)
    checkpoint.save()
    path.rename(tmp_path / "access.log.1")
    write(tmp_path / "access.log.1", *[combined_line(at=number) for number in range(50)])
    second_checkpoint = open_checkpoint(tmp_path)
    second_log = recognise(second_checkpoint, tmp_path / "access.log.1")
    assert (second_log.id, second_log.offset) == (log.id, 50)
    assert second_checkpoint.event_id(second_log, 7) == checkpoint.event_id(log, 7)
    assert second_checkpoint.source_id == checkpoint.source_id


def test_a_new_log_under_an_old_name_is_another(tmp_path: Path) -> None:
    path, checkpoint = write(tmp_path / "access.log", combined_line(at=1)), open_checkpoint(tmp_path)
    old_log = recognise(checkpoint, path)
    path.unlink()
    assert recognise(checkpoint, write(path, combined_line(at=2))) is not old_log


def test_a_log_that_was_emptied_is_another_even_with_the_same_inode(tmp_path: Path) -> None:
    path, checkpoint = (
        write(tmp_path / "access.log", combined_line(at=1), combined_line(at=2)),
        open_checkpoint(tmp_path),
    )
    old_log = recognise(checkpoint, path)
    os.truncate(path, 0)
    write(path, combined_line(at=3), combined_line(at=4), combined_line(at=5))
    new_log = recognise(checkpoint, path)
    assert new_log is not old_log
    checkpoint.advance(new_log, path.stat().st_size)
    os.truncate(path, len(combined_line(at=3)))
    assert recognise(checkpoint, path) is not new_log


def test_a_copy_or_an_archive_of_a_log_is_the_same_log(tmp_path: Path) -> None:
    path, checkpoint = (
        write(tmp_path / "access.log", *[combined_line(at=n) for n in range(50)]),
        open_checkpoint(tmp_path),
    )
    log = recognise(checkpoint, path)
    (tmp_path / "copy").write_bytes(path.read_bytes())
    (tmp_path / "access.log.1.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert recognise(checkpoint, tmp_path / "copy") is log
    assert recognise(checkpoint, tmp_path / "access.log.1.gz") is log


def test_two_short_logs_that_begin_alike_are_two(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(tmp_path)
    path, other_path = (write(tmp_path / name, combined_line()) for name in ("one.log", "two.log"))
    assert recognise(checkpoint, path) is not recognise(checkpoint, other_path)


def test_a_short_log_is_recognised_when_all_of_it_was_compressed(tmp_path: Path) -> None:
    path, checkpoint = write(tmp_path / "access.log", combined_line()), open_checkpoint(tmp_path)
    log = recognise(checkpoint, path)
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress(path.read_bytes()))
    (tmp_path / "more.gz").write_bytes(gzip.compress(path.read_bytes() + combined_line(at=2).encode()))
    assert recognise(checkpoint, tmp_path / "more.gz") is not log
    assert recognise(checkpoint, tmp_path / "access.log.2.gz") is log


def test_the_checkpoint_is_for_its_owner_only_and_holds_nothing_of_requests(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(tmp_path)
    recognise(checkpoint, write(tmp_path / "access.log", combined_line()))
    checkpoint.save()
    path = tmp_path / "evidence.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for part in ("20.171.206.9", "private", "jane", "GPTBot", "Mozilla"):
        assert part not in path.read_text()
    assert [entry.name for entry in tmp_path.iterdir() if "new" in entry.name] == []


def test_a_log_that_was_not_seen_for_long_is_forgotten(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(tmp_path)
    path = write(tmp_path / "access.log", combined_line())
    log = recognise(checkpoint, path)
    log.seen_on = "2020-01-01"
    checkpoint.save()
    assert recognise(open_checkpoint(tmp_path), path).id != log.id


def test_an_offset_never_decreases(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(tmp_path)
    log = recognise(checkpoint, write(tmp_path / "access.log", combined_line()))
    checkpoint.advance(log, 50)
    checkpoint.advance(log, 20)
    assert log.offset == 50


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"version": 2}', '{"version": 1, "key": "x", "logs": []}'])
def test_a_checkpoint_that_cannot_be_read_is_never_replaced(tmp_path: Path, text: str) -> None:
    (tmp_path / "evidence.json").write_text(text)
    with pytest.raises(InvalidCheckpoint):
        open_checkpoint(tmp_path)
    assert (tmp_path / "evidence.json").read_text() == text


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = open_checkpoint(tmp_path)
    checkpoint.save()
    checkpoint_text = (tmp_path / "evidence.json").read_text()

    def fail(number: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr(checkpoint_module.os, "fsync", fail)
    recognise(checkpoint, write(tmp_path / "access.log", combined_line()))
    with pytest.raises(InvalidCheckpoint, match="cannot be written"):
        checkpoint.save()
    assert (tmp_path / "evidence.json").read_text() == checkpoint_text
    assert json.loads(checkpoint_text)["logs"] == []
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["access.log", "evidence.json"]


def test_two_exporters_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "state" / "evidence.json"
    with locked(path), pytest.raises(InvalidCheckpoint, match="another exporter"), locked(path):
        pass
    with locked(path):
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
