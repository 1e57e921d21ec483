"""When a replaced pepper can be removed, and why not before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from app.core.rotation import PepperUse


@dataclass(frozen=True, slots=True)
class Need:
    """What an older pepper is needed for: how many rows, if they are counted, and until when, if that is known."""

    use: PepperUse
    row_count: int | None
    ends_at: datetime | None

    @property
    def loss(self) -> str:
        """What happened if the pepper were removed now."""
        return self.use.loss.format(count=self.row_count)


@dataclass(frozen=True, slots=True)
class Removal:
    """The first day on which nothing with a known end needs a pepper, and what its removal costs, in words."""

    removable_on: date
    reason: str


def plan_removal(needs: Iterable[Need], now: datetime) -> Removal:
    """Return when a replaced pepper can be removed."""
    endless = [need for need in needs if need.ends_at is None]
    ending = sorted((need for need in needs if need.ends_at and need.ends_at > now), key=_end)
    removable_on = _end(ending[-1]).date() + timedelta(days=1) if ending else now.date()
    day = f"on {removable_on}" if ending else "now"
    reason = f"It can be removed {day}"
    if endless:
        reason += f", except that {_join(endless)}"
    if ending:
        reason += f". Before that day {_join(ending)}"
    return Removal(removable_on, reason + ".")


def _end(need: Need) -> datetime:
    assert need.ends_at is not None
    return need.ends_at


def _join(needs: Sequence[Need]) -> str:
    return "; ".join(need.loss for need in needs)
