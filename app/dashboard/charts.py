"""Charts as SVG, whose colours are in the stylesheet.

pygal is not used: it writes styles and scripts into each picture, which the content security policy refuses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from math import ceil
from typing import NamedTuple

from app.core import clock

WIDTH = HEIGHT = 100.0
"""Of a bar chart, in percent of its picture."""

BAR_SHARE = 0.76
"""How much of a day's width its bar fills."""

GAP = 1.5
"""Between the parts of a bar, which need not be told apart by their colours alone."""

MIN_PART = 3.5
"""How much of the height the smallest part of a bar has with its gap, so that one review in a thousand is seen."""

MAX_LABELS = 7
"""How many days are named below a chart."""

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


class DayLabel(NamedTuple):
    """The name of a day, below the middle of its bar."""

    text: str
    x: float
    is_minor: bool
    """Whether a narrow screen leaves it out."""


@dataclass(frozen=True, slots=True)
class BarChart:
    """Stacked bars by days, oldest first."""

    title: str
    things: str
    """What is counted."""
    bars: Sequence[DayBar]

    @property
    def top(self) -> int:
        """The count of the highest bar, which fills the height."""
        return max((bar.total for bar in self.bars), default=0)

    @property
    def columns(self) -> list[tuple[DayBar, list[Rectangle]]]:
        """The rectangles of each bar."""
        return [(bar, self._rectangles(number, bar)) for number, bar in enumerate(self.bars)]

    @property
    def today(self) -> Rectangle | None:
        """The column of today, which is not over yet, if it is the last one."""
        if not self.bars or self.bars[-1].day_on != clock.now().date():
            return None
        return Rectangle("today", round(WIDTH - self._day_width, 2), 0.0, round(self._day_width, 2), HEIGHT)

    @property
    def labels(self) -> list[DayLabel]:
        """The names of some days, the last one among them."""
        last = len(self.bars) - 1
        numbers = range(last, -1, -max(ceil(len(self.bars) / MAX_LABELS), 1))
        labels = [
            DayLabel(f"{self.bars[number].day_on:%-d %b}", round((number + 0.5) * self._day_width, 2), place % 2 == 1)
            for place, number in enumerate(numbers)
        ]
        return [labels[0]._replace(text="today"), *labels[1:]] if self.today else labels

    @property
    def _day_width(self) -> float:
        return WIDTH / len(self.bars)

    def _rectangles(self, number: int, bar: DayBar) -> list[Rectangle]:
        x = round((number + (1 - BAR_SHARE) / 2) * self._day_width, 2)
        width = round(self._day_width * BAR_SHARE, 2)
        rectangles, y = [], HEIGHT
        heights = _part_heights(list(bar.counts.values()), self.top)
        for part, (name, height) in enumerate(zip(bar.counts, heights, strict=True)):
            y -= height
            gap = GAP if height and any(heights[part + 1 :]) else 0.0
            rectangles.append(Rectangle(name, x, round(y + gap, 2), width, round(height - gap, 2)))
        return rectangles


def _part_heights(counts: Sequence[int], top: int) -> list[float]:
    """Return how high each part of a bar is; what the smallest ones have too much, the tallest one has not."""
    heights = [max(count / top * HEIGHT, MIN_PART) if count else 0.0 for count in counts]
    heights[heights.index(max(heights))] -= max(sum(heights) - HEIGHT, 0.0)
    return heights


def spark_points(values: Sequence[float]) -> str:
    """Return the points of a line through values, as SVG's `polyline` takes them."""
    top = max(values, default=0) or 1
    step = SPARK_WIDTH / max(len(values) - 1, 1)
    return " ".join(
        f"{number * step:.1f},{SPARK_HEIGHT - 1 - value / top * (SPARK_HEIGHT - 2):.1f}"
        for number, value in enumerate(values)
    )
