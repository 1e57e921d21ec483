"""The range of the demo shop, and how it is ranked by what matters to a customer."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Shoe:
    """A pair of shoes with the properties that it is ranked by."""

    name: str
    price: int
    """In euros."""
    rating: float
    """Of five stars."""
    delivery_days: int
    return_days: int
    recycled_percent: int


SHOES = (
    Shoe("Harbour Runner", 89, 4.2, 3, 30, 20),
    Shoe("Ridge Trail", 149, 4.8, 4, 60, 35),
    Shoe("Canvas Basic", 39, 3.9, 5, 14, 10),
    Shoe("City Express", 99, 4.1, 1, 30, 15),
    Shoe("Meadow Loop", 119, 4.4, 6, 90, 95),
)

_RANKINGS: dict[str, Callable[[Shoe], float]] = {
    "price": lambda shoe: shoe.price,
    "quality": lambda shoe: -shoe.rating,
    "speed": lambda shoe: shoe.delivery_days,
    "convenience": lambda shoe: -shoe.return_days,
    "sustainability": lambda shoe: -shoe.recycled_percent,
}
"""The sort key of each value of the catalog field `shopping.priority`."""


def rank_shoes(priority: str | None) -> list[dict[str, Any]]:
    """Return the shoes, best first for a priority; in the shop's own order without one or with an unknown one."""
    ranking = _RANKINGS.get(priority or "")
    return [asdict(shoe) for shoe in (sorted(SHOES, key=ranking) if ranking else SHOES)]
