"""CloudFront's standard logs: columns between tabs, named by a `#Fields` line."""

from collections.abc import Sequence
from urllib.parse import unquote

from agent_feedback.evidence.record import Malformed, Record, moment, status

FIELDS = b"#Fields:"

_DOCUMENTED = (
    *("date", "time", "x-edge-location", "sc-bytes", "c-ip", "cs-method"),
    *("cs(Host)", "cs-uri-stem", "sc-status", "cs(Referer)", "cs(User-Agent)"),
)
"""The order of the columns where a file does not say."""


class CloudFrontParser:
    """Reads lines by the columns that the file named last."""

    def __init__(self, head: bytes) -> None:
        self._columns: dict[str, int] = {}
        self._name(_DOCUMENTED)
        for line in head.splitlines():
            if line.startswith(FIELDS):
                self(line)
                break

    def __call__(self, line: bytes) -> Record | None:
        """Read one line; a line about the columns is no request."""
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith("#"):
            if line.startswith(FIELDS):
                self._name(text.partition(":")[2].split())
            return None
        values = text.split("\t")
        return Record(
            observed_at=self._moment(values),
            method=self._value(values, "cs-method"),
            status=status(self._value(values, "sc-status")),
            user_agent=_decoded(self._value(values, "cs(User-Agent)")),
            # As it stands: a host of the allowlist has nothing to decode, and a lookalike might.
            referrer=self._value(values, "cs(Referer)"),
            address=self._value(values, "c-ip"),
        )

    def _name(self, columns: Sequence[str]) -> None:
        self._columns = {name: number for number, name in enumerate(columns)}

    def _moment(self, values: list[str]) -> float:
        if "date" in self._columns:
            return moment(f"{self._value(values, 'date')}T{self._value(values, 'time')}Z")
        return moment(self._value(values, "timestamp(ms)" if "timestamp(ms)" in self._columns else "timestamp"))

    def _value(self, values: list[str], name: str) -> str:
        number = self._columns.get(name)
        if number is None:
            return ""
        if number >= len(values):
            raise Malformed("columns")
        return "" if values[number] == "-" else values[number]


def _decoded(text: str) -> str:
    """Decode a user agent; older files encoded the percent signs once more."""
    decoded = unquote(text, errors="replace")
    return unquote(decoded, errors="replace") if "%20" in decoded and " " not in decoded else decoded
