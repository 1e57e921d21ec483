"""How the demo shop ranks its shoes."""

import tomllib

import pytest

from app.dashboard.shoes import SHOES, rank_shoes
from tests.conftest import ROOT

CATALOG = tomllib.loads((ROOT / "config/catalog.toml").read_text())["entry"]
(PRIORITIES,) = [entry["allowed_values"] for entry in CATALOG if entry["key"] == "shopping.priority"]


def names(priority: str | None) -> list[str]:
    return [shoe["name"] for shoe in rank_shoes(priority)]


@pytest.mark.parametrize("priority", PRIORITIES)
def test_every_priority_of_the_catalog_changes_the_order(priority: str) -> None:
    assert names(priority) != names(None)
    assert set(names(priority)) == set(names(None))


@pytest.mark.parametrize("priority", [None, "", "colour"])
def test_without_a_known_priority_the_shops_own_order_stays(priority: str | None) -> None:
    assert names(priority) == [shoe.name for shoe in SHOES]


def test_the_cheapest_shoe_comes_first_for_the_price() -> None:
    assert names("price")[0] == "Canvas Basic"
