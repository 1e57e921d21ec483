"""Charts as SVG, whose colours are in the stylesheet.

pygal is not used: it writes styles and scripts into each picture, which the content security policy refuses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

WIDTH, HEIGHT = 700.0, 140.0
"""Of a bar chart, in units of its view box."""

BAR_SHARE = 0.76
"""How much of a day's width its bar fills."""

SPARK_WIDTH, SPARK_HEIGHT = 96.0, 22.0


@dataclass(frozen=True, slots=True)
class DayBar:
    """The counts of a day, by the names of their colours, from the bottom up."""

    day_on: date
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """The height of the bar."""
        return sum(self.counts.values())

    @property
    def title(self) -> str:
        """What a reader is told of the bar: `3 Nov: 12 success, 3 failure`."""
        parts = ", ".join(f"{count:,} {name}" for name, count in self.counts.items() if count)
        return f"{self.day_on:%-d %b}: {parts or 'none'}"


class Rectangle(NamedTuple):
    """A part of a bar; `name` is its class."""

    name: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class BarChart:
    """Stacked bars by days, oldest first."""

    title: str
    bars: Sequence[DayBar]

    @property
    def top(self) -> int:
        """The count that fills the height."""
        return max((bar.total for bar in self.bars), default=0) or 1

    @property
    def columns(self) -> list[tuple[DayBar, list[Rectangle]]]:
        """The rectangles of each bar."""
        return [(bar, self._rectangles(number, bar)) for number, bar in enumerate(self.bars)]

    def _rectangles(self, number: int, bar: DayBar) -> list[Rectangle]:
        day_width = WIDTH / len(self.bars)
        rectangles, y = [], HEIGHT
        for name, count in bar.counts.items():
            height = count / self.top * HEIGHT
            y -= height
            x = (number + (1 - BAR_SHARE) / 2) * day_width
            rectangles.append(
                Rectangle(name, round(x, 2), round(y, 2), round(day_width * BAR_SHARE, 2), round(height, 2))
            )
        return rectangles


def spark_points(values: Sequence[float]) -> str:
    """Return the points of a line through values, as SVG's `polyline` takes them."""
    top = max(values, default=0) or 1
    step = SPARK_WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{number * step:.1f},{SPARK_HEIGHT - 1 - value / top * (SPARK_HEIGHT - 2):.1f}"
        for number, value in enumerate(values)
    )
