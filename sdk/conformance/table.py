"""The table at the end of a run: programs and what they can do."""

from collections import Counter, defaultdict
from typing import Any

PASSED, FAILED = "passed", "failed"


class Table:
    """Counts the cases of each capability and program."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))

    def add(self, capability: str, program: str, outcome: str) -> None:
        """Count one case."""
        self._counts[capability][program][outcome] += 1

    def lines(self) -> list[str]:
        """Return the table: a capability in each line, a program in each column."""
        programs = sorted({program for row in self._counts.values() for program in row})
        if not programs:
            return []
        rows = [["", *programs]]
        for capability, counts in self._counts.items():
            rows.append([capability, *(_cell(counts[program]) if program in counts else "–" for program in programs)])
        widths = [max(len(row[column]) for row in rows) for column in range(len(programs) + 1)]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return [line.rstrip() for line in (lines[0], "  ".join("─" * width for width in widths), *lines[1:])]


def _cell(counts: Counter[str]) -> str:
    total = counts[PASSED] + counts[FAILED]
    return f"{total} cases" if not counts[FAILED] else f"{counts[FAILED]} of {total} FAIL"


def outcome_of(report: Any) -> str | None:
    """Return what a report of pytest says about its case, if it says it finally."""
    if report.failed:
        return FAILED
    return PASSED if report.when == "call" and report.passed else None
