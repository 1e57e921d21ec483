"""Run an export: continue every list behind its last row, and write the counts anew."""

import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from app.core import clock
from app.core.database import transaction
from app.core.database.pages import COMMIT_DELAY, Criteria, Order, Page, Position
from app.core.wire.fields import EARLIEST, LATEST
from app.evidence.queries import list_counts
from app.exports.files import Format, ItemFile, open_file, sync_folder
from app.exports.lists import EVIDENCE_COUNTS, EVIDENCE_SCHEMA, LISTS, ExportedList
from app.exports.state import ExportConflict, Progress, State, lock, open_state, save
from app.products.queries import kept_since
from app.products.service import get_environment
from app.reading.service import settled_until

BATCH_SIZE = 5_000
"""Rows of one transaction, and of one row group: some ten megabytes of memory."""

PART_ROWS = 200_000
"""Rows of a Parquet file; a run that is killed writes the one that it was at again."""

COUNTED_DAYS = 31
"""Days of evidence counts in one statement."""

Report = Callable[[str, int], None]
"""Is told the name of a list and the number of rows that this run has written of it."""


@dataclass(frozen=True, slots=True)
class Export:
    """What to export, and where."""

    environment_id: uuid.UUID
    format: Format
    folder: Path
    since: str | None = None
    """As it was written; `since_at` is what it means."""
    since_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of an export."""

    export: Export
    product_id: uuid.UUID
    evidence_days: int
    state: State

    def save(self) -> None:
        save(self.export.folder, self.state)

    def path(self, name: str, part: int = 1) -> Path:
        suffix = "" if part == 1 else f"-{part:04}"
        return self.export.folder / f"{name}{suffix}.{self.export.format}"

    @property
    def since(self) -> datetime:
        return datetime.fromisoformat(self.state.since_at) if self.state.since_at else EARLIEST


def run(
    export: Export, report: Report = lambda name, rows: None, pause: Callable[[float], None] = time.sleep
) -> dict[str, int]:
    """Export everything that is there when the run begins and is new since the last one; return the rows of each list.

    Every batch is a transaction of its own, and is on the disk before the state says so. Where there are rows in front
    of which others may still appear, the run pauses, some seconds at most, until none can.
    """
    settled_at = clock.now() + COMMIT_DELAY
    with transaction():
        environment = get_environment(export.environment_id)
        product_id, evidence_days = environment.product_id, environment.evidence_retention_days
    export.folder.mkdir(parents=True, exist_ok=True)
    since_at = export.since_at.isoformat() if export.since_at else None
    with lock(export.folder):
        wanted = State(str(export.environment_id), export.format, export.since, since_at)
        current = _Run(export, product_id, evidence_days, open_state(export.folder, wanted))
        for path in export.folder.glob(f"*.{export.format}.new"):
            path.unlink()
        append = _append_parts if export.format is Format.PARQUET else _append_lines
        counts = {exported.name: append(current, exported, report) for exported in LISTS}
        if _has_unsettled_rows(current):
            pause(max(0.0, (settled_at - clock.now()).total_seconds()))
            counts = {exported.name: counts[exported.name] + append(current, exported, report) for exported in LISTS}
        return {**counts, EVIDENCE_COUNTS: _replace_counts(current, report)}


def _append_lines(current: _Run, exported: ExportedList, report: Report) -> int:
    progress = current.state.lists.setdefault(exported.name, Progress())
    path, row_count = current.path(exported.name), 0
    if (path.stat().st_size if path.exists() else 0) < progress.bytes:
        raise ExportConflict(f"{path} is shorter than it was; export to another directory.")
    with closing(open_file(path, current.export.format, exported.schema, progress.bytes)) as file:
        for page in _pages(current, exported, progress):
            file.write(page.rows)
            row_count += _advance(progress, page)
            progress.bytes = file.sync()
            current.save()
            report(exported.name, row_count)
        progress.bytes = file.sync()
    current.save()
    return row_count


def _append_parts(current: _Run, exported: ExportedList, report: Report) -> int:
    progress = current.state.lists.setdefault(exported.name, Progress())
    for part in range(1, progress.parts + 1):
        if not current.path(exported.name, part).exists():
            raise ExportConflict(f"{current.path(exported.name, part)} is missing; export to another directory.")
    new_path, row_count, part_rows = current.path(exported.name).with_suffix(".parquet.new"), 0, 0
    # A list without rows is a file without rows.
    file = None if progress.parts else open_file(new_path, Format.PARQUET, exported.schema)
    unsaved = Progress(progress.rows, parts=progress.parts, position=progress.position)
    try:
        for page in _pages(current, exported, progress):
            file = file or open_file(new_path, Format.PARQUET, exported.schema)
            file.write(page.rows)
            part_rows += len(page.rows)
            row_count += _advance(unsaved, page)
            if part_rows >= PART_ROWS:
                _complete_part(current, exported, file, unsaved)
                file, part_rows = None, 0
            report(exported.name, row_count)
        if file:
            _complete_part(current, exported, file, unsaved)
    finally:
        if file:
            file.close()
    return row_count


def _complete_part(current: _Run, exported: ExportedList, file: ItemFile, unsaved: Progress) -> None:
    """Give a Parquet file its name, which replaces one whose completion was not saved, and save that it is there."""
    file.close()
    unsaved.parts += 1
    path = current.path(exported.name, unsaved.parts)
    current.path(exported.name).with_suffix(".parquet.new").replace(path)
    sync_folder(current.export.folder)
    current.state.lists[exported.name] = Progress(unsaved.rows, parts=unsaved.parts, position=unsaved.position)
    current.save()


def _replace_counts(current: _Run, report: Report) -> int:
    """Write the counts of evidence anew: those of whole UTC days that the environment keeps."""
    path, row_count = current.path(EVIDENCE_COUNTS), 0
    new_path = path.with_name(f"{path.name}.new")
    today = clock.now().date()
    first_on = max(today - timedelta(days=current.evidence_days - 1), current.since.date())
    with closing(open_file(new_path, current.export.format, EVIDENCE_SCHEMA)) as file:
        while first_on <= today:
            last_on = first_on + timedelta(days=COUNTED_DAYS - 1)
            with transaction():
                rows = list_counts(current.export.environment_id, first_on, min(last_on, today))
            file.write(rows)
            row_count += len(rows)
            report(EVIDENCE_COUNTS, row_count)
            first_on = last_on + timedelta(days=1)
    new_path.replace(path)
    sync_folder(current.export.folder)
    return row_count


def _has_unsettled_rows(current: _Run) -> bool:
    """Tell whether there are rows that are too new to be exported yet, or batches that will become rows."""
    environment_id = current.export.environment_id
    for exported in LISTS:
        with transaction():
            earliest = settled_until(environment_id)
            until = exported.settled_until(environment_id)
            criteria = _criteria(current, exported, since=until, until=LATEST)
            if until < earliest or exported.table.list(criteria, 1).rows:
                return True
    return False


def _pages(current: _Run, exported: ExportedList, progress: Progress) -> Iterator[Page[Any]]:
    """Yield the pages behind the last exported row, up to what is settled at the beginning."""
    environment_id = current.export.environment_id
    position = None
    if progress.position:
        at, id_ = progress.position
        position = Position(datetime.fromisoformat(at), uuid.UUID(id_))
    with transaction():
        kept = kept_since(environment_id) if exported.has_retention else EARLIEST
        until = exported.settled_until(environment_id)
    criteria = _criteria(current, exported, since=max(current.since, kept), until=until)
    while True:
        with transaction():
            page = exported.table.list(criteria, BATCH_SIZE, position)
        if page.rows:
            yield page
        if not page.has_more:
            return
        position = page.last_position


def _criteria(current: _Run, exported: ExportedList, since: datetime, until: datetime) -> Criteria:
    tenant_id = current.product_id if exported.is_of_product else current.export.environment_id
    return Criteria(tenant_id, Order.OLDEST, since=since, until=until)


def _advance(progress: Progress, page: Page[Any]) -> int:
    """Record the rows of a page, and return their number."""
    assert page.last_position
    progress.rows += len(page.rows)
    progress.position = (page.last_position.at.isoformat(), str(page.last_position.id))
    return len(page.rows)
