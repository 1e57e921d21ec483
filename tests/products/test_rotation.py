"""Rotating keys."""

from datetime import timedelta

import pytest
from flask import Flask

from app.core.database import transaction
from app.products import service as products
from app.products.rules import KeyKind
from tests.context_api import Clock
from tests.factories import Company


def test_the_successor_of_a_key_that_expires_expires_when_it_would_have(company: Company, clock: Clock) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY, expires_in=timedelta(days=30))
        granted_until = clock.now + timedelta(days=30)
    clock.advance(days=10)
    with transaction():
        successor = products.rotate_key(key.id, overlap_hours=24)
        assert products.get_key(successor.id).expires_at == granted_until
        assert products.get_key(key.id).expires_at == clock.now + timedelta(hours=24)


@pytest.mark.parametrize("lifetime", [None, timedelta(days=30)])
def test_a_key_that_is_rotated_twice_passes_on_what_was_granted_and_not_its_overlap(
    company: Company, clock: Clock, lifetime: timedelta | None
) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.PRODUCT, expires_in=lifetime)
        first = products.rotate_key(key.id, overlap_hours=24)
        products.rotate_key(first.id, overlap_hours=12)
        second = products.rotate_key(key.id, overlap_hours=24)
        assert products.get_key(second.id).expires_at == (clock.now + lifetime if lifetime else None)


def test_an_overlap_prolongs_no_key(app: Flask, company: Company, clock: Clock) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY, expires_in=timedelta(hours=2))
        products.rotate_key(key.id, overlap_hours=168)
        assert products.get_key(key.id).expires_at == clock.now + timedelta(hours=2)
