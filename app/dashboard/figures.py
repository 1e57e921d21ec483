"""Figures of pages: shares with their intervals, and how numbers are written."""

from dataclasses import dataclass
from datetime import timedelta
from math import hypot, sqrt

from app.summaries.rules import MIN_OBSERVATIONS, Z_95

FIVE_DIGITS = 10_000

MINUTES_SINCE_MS = 120_000
"""From when on a duration is written in minutes."""

MINUTES_PER_HOUR, HOURS_PER_DAY = 60, 24


@dataclass(frozen=True, slots=True)
class Share:
    """A share of observations, with its Wilson score interval at 95 %."""

    count: int
    of: int

    @property
    def is_shown(self) -> bool:
        """Whether there are enough observations."""
        return self.of >= MIN_OBSERVATIONS

    @property
    def value(self) -> float:
        """The share, 0 without observations."""
        return self.count / self.of if self.of else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the interval, within 0 and 1."""
        if not self.of:
            return 0.0, 1.0
        center = self.value + Z_95**2 / (2 * self.of)
        margin = Z_95 * sqrt((self.value * (1 - self.value) + Z_95**2 / (4 * self.of)) / self.of)
        scale = 1 + Z_95**2 / self.of
        return max(0.0, (center - margin) / scale), min(1.0, (center + margin) / scale)

    @property
    def text(self) -> str:
        """The share as a page shows it: `80 %`, or a dash below ten observations."""
        return percent(self.value) if self.is_shown else "–"

    @property
    def interval_text(self) -> str:
        """The interval as a page shows it: `71 to 87 %`."""
        low, high = self.interval
        return f"{round(low * 100)} to {percent(high)}"

    @property
    def coverage_text(self) -> str:
        """What the share is of: `10 of 16`."""
        return f"{thousands(self.count)} of {thousands(self.of)}"


@dataclass(frozen=True, slots=True)
class Difference:
    """How much a share is above another one, with its interval at 95 % by Newcombe's method 10 (1998)."""

    share: Share
    baseline: Share

    @property
    def is_shown(self) -> bool:
        """Whether both have enough observations."""
        return self.share.is_shown and self.baseline.is_shown

    @property
    def value(self) -> float:
        """The difference."""
        return self.share.value - self.baseline.value

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds of the interval, made of the Wilson intervals of both."""
        (low, high), (base_low, base_high) = self.share.interval, self.baseline.interval
        below = hypot(self.share.value - low, base_high - self.baseline.value)
        above = hypot(high - self.share.value, self.baseline.value - base_low)
        return self.value - below, self.value + above

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves zero out."""
        low, high = self.interval
        return self.is_shown and (low > 0 or high < 0)

    @property
    def text(self) -> str:
        """The difference as a page shows it: `+5 points`, or a dash below ten observations of either."""
        return f"{_points(self.value)} points" if self.is_shown else "–"

    @property
    def interval_text(self) -> str:
        """The interval as a page shows it: `−2 to +12 points`."""
        low, high = self.interval
        return f"{_points(low)} to {_points(high)} points"


def _points(value: float) -> str:
    return f"{round(value * 100):+d}".replace("-", "−").replace("+0", "0")


def percent(value: float) -> str:
    """Return a share as text: `80 %`."""
    return f"{round(value * 100)} %"


def thousands(value: float) -> str:
    """Return a number with thousands apart where it has five digits and more: `1234`, `12,345`."""
    return f"{value:,.0f}" if round(value) >= FIVE_DIGITS else f"{value:.0f}"


def duration(milliseconds: float | None) -> str:
    """Return a duration as text: `85 ms`, `1.2 s`, `12 min`; a dash where it is not known."""
    if milliseconds is None:
        return "–"
    if milliseconds >= MINUTES_SINCE_MS:
        return f"{milliseconds / 60_000:,.0f} min"
    return f"{milliseconds:,.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:,.1f} s"


def time_span(span: timedelta) -> str:
    """Return the time between two moments as text: `under 1 min`, `12 min`, `3 h`, `2 days`."""
    minutes = int(span.total_seconds() // 60)
    if minutes < MINUTES_PER_HOUR * 2:
        return f"{minutes} min" if minutes else "under 1 min"
    hours = minutes // MINUTES_PER_HOUR
    return f"{hours} h" if hours < HOURS_PER_DAY * 2 else f"{hours // HOURS_PER_DAY} days"
