"""The key cache, under clocks that move at the worst moment."""

import itertools

import pytest
from flask import Flask

from app.products.key_cache import CACHE_TTL_S, KeyCache
from config.settings import Settings
from tests.factories import Company


@pytest.mark.parametrize("step_s", [CACHE_TTL_S * share for share in (0.3, 0.5, 0.6, 0.9, 1.1)])
def test_an_entry_that_expires_between_two_looks_at_the_clock_is_looked_up_again(
    app: Flask, settings: Settings, company: Company, step_s: float
) -> None:
    cache = KeyCache(settings, timer=itertools.count(0.0, step_s).__next__)
    for _ in range(20):
        key = cache.find(company.product_key.split("_")[2])
        assert key is not None
        cache.record_use(key)
    assert cache.find("0" * 32) is None
