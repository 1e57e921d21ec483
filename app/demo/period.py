"""The fortnight: its days and hours, how busy they are, and ids that are the same for the same workspace."""

import hashlib
import math
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random

DAYS = 14

WEEKDAY_FACTORS = (1.06, 1.1, 1.08, 1.0, 0.92, 0.58, 0.5)
"""From Monday on."""
HOUR_WEIGHTS = (2, 1, 1, 1, 2, 3, 5, 9, 14, 17, 18, 17, 14, 15, 17, 16, 14, 12, 10, 9, 8, 7, 5, 3)
"""From midnight on, in UTC."""
GROWTH_PER_DAY = 0.012

_TIME_BITS, _RANDOM_BITS = 48, 80


@dataclass(frozen=True)
class Period:
    """The days up to today, of which nothing is later than `end`."""

    today: datetime
    """Midnight, in UTC."""
    end: datetime

    @classmethod
    def before(cls, now: datetime) -> "Period":
        """Return the fortnight that ends with the last full hour."""
        moment = now.astimezone(UTC)
        today = moment.replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(today, moment.replace(minute=0, second=0, microsecond=0))

    @property
    def start(self) -> datetime:
        """Midnight of the first day."""
        return self.today - timedelta(days=DAYS - 1)

    def at(self, day: int, hour: float = 0) -> datetime:
        """Return a moment of a day, of which the first is 0; earlier ones are negative."""
        return self.start + timedelta(days=day, hours=hour)

    def random(self, subject: str) -> Random:
        """Return random numbers that depend on the day and the subject alone."""
        return Random(f"{self.today.date()} {subject}")

    def is_past(self, moment: datetime) -> bool:
        """Tell whether a moment is not later than the end."""
        return moment <= self.end

    def daily_volume(self, day: int, base: float) -> float:
        """Return how much happens on a whole day, where `base` is common for a weekday."""
        weekday = self.at(day).weekday()
        return base * WEEKDAY_FACTORS[weekday] * (1 + GROWTH_PER_DAY * day)


def moment_of_day(random: Random) -> timedelta:
    """Return a time of day, more often at a busy hour."""
    hour = random.choices(range(24), HOUR_WEIGHTS)[0]
    return timedelta(hours=hour, seconds=random.uniform(0, 3600))


def count_around(random: Random, mean: float) -> int:
    """Return a count that varies around a mean as independent events do."""
    return max(0, round(random.gauss(mean, math.sqrt(mean))))


@dataclass(frozen=True)
class Ids:
    """Ids of version 4 that follow from a workspace, a kind and a number."""

    workspace_id: uuid.UUID

    def make(self, kind: str, number: object) -> uuid.UUID:
        """Return the id of a row."""
        return uuid.UUID(bytes=self.digest(kind, number), version=4)

    def make_at(self, kind: str, number: object, moment: datetime) -> uuid.UUID:
        """Return an id that begins with a time, as every SDK makes those of interactions."""
        milliseconds = int(moment.timestamp() * 1000) % 2**_TIME_BITS
        randomness = int.from_bytes(self.digest(kind, number)[: _RANDOM_BITS // 8])
        return uuid.UUID(int=milliseconds << _RANDOM_BITS | randomness, version=4)

    def digest(self, kind: str, number: object) -> bytes:
        """Return 16 bytes."""
        return hashlib.blake2b(f"{self.workspace_id} {kind} {number}".encode(), digest_size=16).digest()
