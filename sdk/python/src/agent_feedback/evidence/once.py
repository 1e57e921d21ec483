"""Reading every log to its present end."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from agent_feedback.evidence.progress import Bar
from agent_feedback.evidence.reading import UNREADABLE, LogFile
from agent_feedback.evidence.tail import Desk, Tail, UnknownFormat, rotated

Complain = Callable[[str], None]

UNKNOWN_FORMAT = "the format cannot be told from its first lines; name it with --format"
UNREADABLE_LOG = "cannot be read to its end"


class Once:
    """One run over some logs."""

    def __init__(self, desk: Desk, complain: Complain) -> None:
        self._desk, self._complain = desk, complain
        self._bar, self._done = Bar(0), 0

    def ship(self, paths: Iterable[Path]) -> None:
        """Send what each log holds; one that cannot be read is complained about, and the others go on."""
        paths = list(paths)
        self._bar, self._done = Bar(sum(path.stat().st_size for path in paths if path.is_file())), 0
        try:
            for path in paths:
                self._desk.stop.check()
                self._attempt(path)
            self._desk.shipper.flush()
        finally:
            self._bar.clear()

    def _attempt(self, path: Path) -> None:
        try:
            with closing(LogFile(path)) as file:
                for former in rotated(self._desk, path, file):
                    self._drain(former)
                self._drain(Tail(self._desk, file))
                self._done += file.size
        except UnknownFormat:
            self._complain(f"{path}: {UNKNOWN_FORMAT}")
        except UNREADABLE as error:
            self._complain(f"{path}: {UNREADABLE_LOG} ({type(error).__name__})")

    def _drain(self, tail: Tail) -> None:
        counters = self._desk.exporter.counters
        for _ in tail.read():
            self._bar.show(self._done + tail.file.place, counters["lines"], counters["events"])
