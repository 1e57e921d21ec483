"""Rotating keys."""

import threading
from datetime import timedelta

import pytest
from flask import Flask

from app.core.database import transaction
from app.core.errors import Conflict
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
        newest = products.rotate_key(first.id, overlap_hours=12)
        for successor in (first, newest):
            products.revoke_key(successor.id)
        second = products.rotate_key(key.id, overlap_hours=24)
        assert products.get_key(second.id).expires_at == (clock.now + lifetime if lifetime else None)


def test_a_key_with_a_valid_successor_is_not_rotated_again(company: Company, clock: Clock) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY)
        first = products.rotate_key(key.id, overlap_hours=24)
        with pytest.raises(Conflict, match=first.id):
            products.rotate_key(key.id, overlap_hours=24)
        newest = products.rotate_key(first.id, overlap_hours=2)
    clock.advance(hours=3)
    with transaction(), pytest.raises(Conflict, match=newest.id):
        products.rotate_key(key.id, overlap_hours=24)


def test_of_two_rotations_at_the_same_time_one_makes_a_successor(app: Flask, company: Company) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY)
    is_started, errors = threading.Event(), []

    def rotate_too() -> None:
        with app.app_context(), transaction():
            is_started.set()
            try:
                products.rotate_key(key.id, overlap_hours=24)
            except Conflict as error:
                errors.append(error)

    thread = threading.Thread(target=rotate_too)
    with transaction():
        products.rotate_key(key.id, overlap_hours=24)
        thread.start()
        assert is_started.wait(timeout=10)
        thread.join(0.3)
        assert thread.is_alive(), "the second transaction waits for the first"
    thread.join(timeout=10)
    assert len(errors) == 1


def test_an_overlap_prolongs_no_key(app: Flask, company: Company, clock: Clock) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.COMPANY, expires_in=timedelta(hours=2))
        products.rotate_key(key.id, overlap_hours=168)
        assert products.get_key(key.id).expires_at == clock.now + timedelta(hours=2)
