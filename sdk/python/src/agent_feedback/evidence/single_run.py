"""Read every log once, to its present end."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from agent_feedback.evidence.log_file import UNREADABLE, LogFile
from agent_feedback.evidence.progress_bar import ProgressBar
from agent_feedback.evidence.tail import ExportContext, Tail, UnknownFormat, find_rotated

ReportProblem = Callable[[str], None]
"""Shows the operator a problem that does not end the run."""

UNKNOWN_FORMAT = "the format cannot be told from its first lines; name it with --format"
UNREADABLE_LOG = "cannot be read to its end"


class SingleRun:
    """One run over some logs."""

    def __init__(self, context: ExportContext, report_problem: ReportProblem) -> None:
        self._context, self._report_problem = context, report_problem
        self._bar, self._bytes_before = ProgressBar(0), 0

    def ship(self, paths: Iterable[Path]) -> None:
        """Send the events of each log; report one that cannot be read and go on with the others."""
        paths = list(paths)
        self._bar, self._bytes_before = ProgressBar(sum(path.stat().st_size for path in paths if path.is_file())), 0
        try:
            for path in paths:
                self._context.stop.check()
                self._attempt(path)
            self._context.shipper.flush()
        finally:
            self._bar.clear()

    def _attempt(self, path: Path) -> None:
        try:
            with closing(LogFile(path)) as file:
                for tail in find_rotated(self._context, path, file):
                    self._drain(tail)
                self._drain(Tail(self._context, file))
                self._bytes_before += file.size
        except UnknownFormat:
            self._report_problem(f"{path}: {UNKNOWN_FORMAT}")
        except UNREADABLE as error:
            self._report_problem(f"{path}: {UNREADABLE_LOG} ({type(error).__name__})")

    def _drain(self, tail: Tail) -> None:
        counters = self._context.exporter.counters
        for _ in tail.read():
            self._bar.show(self._bytes_before + tail.file.bytes_read, counters["lines"], counters["events"])
