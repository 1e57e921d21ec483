"""Parse CloudFront's standard logs: columns between tabs, named by a `#Fields` line."""

from collections.abc import Sequence
from urllib.parse import unquote

from agent_feedback.evidence.record import Malformed, Record, parse_status, parse_time

FIELDS = b"#Fields:"

_DEFAULT_COLUMNS = (
    *("date", "time", "x-edge-location", "sc-bytes", "c-ip", "cs-method"),
    *("cs(Host)", "cs-uri-stem", "sc-status", "cs(Referer)", "cs(User-Agent)"),
)
"""The documented order, for a file without a `#Fields` line."""


class CloudFrontParser:
    """Parses lines by the latest `#Fields` line."""

    def __init__(self, head: bytes) -> None:
        self._columns: dict[str, int] = {}
        self._set_columns(_DEFAULT_COLUMNS)
        for line in head.splitlines():
            if line.startswith(FIELDS):
                self(line)
                break

    def __call__(self, line: bytes) -> Record | None:
        """Parse one line; None for a comment."""
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text.startswith("#"):
            if line.startswith(FIELDS):
                self._set_columns(text.partition(":")[2].split())
            return None
        values = text.split("\t")
        return Record(
            observed_at=self._time(values),
            method=self._value(values, "cs-method"),
            status=parse_status(self._value(values, "sc-status")),
            user_agent=_decode(self._value(values, "cs(User-Agent)")),
            # Not decoded: no host of the allowlist needs it, and a lookalike might.
            referrer=self._value(values, "cs(Referer)"),
            address=self._value(values, "c-ip"),
        )

    def _set_columns(self, columns: Sequence[str]) -> None:
        self._columns = {name: number for number, name in enumerate(columns)}

    def _time(self, values: list[str]) -> float:
        if "date" in self._columns:
            return parse_time(f"{self._value(values, 'date')}T{self._value(values, 'time')}Z")
        return parse_time(self._value(values, "timestamp(ms)" if "timestamp(ms)" in self._columns else "timestamp"))

    def _value(self, values: list[str], name: str) -> str:
        number = self._columns.get(name)
        if number is None:
            return ""
        if number >= len(values):
            raise Malformed("columns")
        return "" if values[number] == "-" else values[number]


def _decode(text: str) -> str:
    """Decode a user agent; older files have percent signs encoded twice."""
    user_agent = unquote(text, errors="replace")
    return unquote(user_agent, errors="replace") if "%20" in user_agent and " " not in user_agent else user_agent
