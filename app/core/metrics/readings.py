"""Readings: what a package reads from its tables, or asks a server, when somebody asks for the metrics."""

from typing import NamedTuple

from app.core.metrics.families import Family


class Distribution(NamedTuple):
    """What a histogram holds."""

    counts: tuple[int, ...]
    """One for each bucket, and one for what is beyond the last; not cumulative."""
    total: float


class Reading(NamedTuple):
    """The value of one metric."""

    family: Family
    value: float | Distribution
    labels: tuple[str, ...] = ()
