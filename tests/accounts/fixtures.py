"""Fixtures for tests of signing in."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pyotp
import pytest
from argon2 import PasswordHasher
from flask import Flask

from app import create_app
from app.accounts import second_factor, sessions
from app.core.database import transaction
from config.settings import Settings, Stage
from tests.factories import Company, sign_in

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)

Wait = Callable[..., None]


@pytest.fixture
def wait(monkeypatch: pytest.MonkeyPatch) -> Wait:
    """Stop the clock, and return a function that advances it."""
    moments = [NOW]
    monkeypatch.setattr("app.core.clock.now", lambda: moments[-1])

    def move(**by: float) -> None:
        moments.append(moments[-1] + timedelta(**by))

    return move


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the hashes that argon2 compares with, in order."""
    hashes: list[str] = []
    verify = PasswordHasher.verify

    def count(self: PasswordHasher, stored_hash: str | bytes, password: str | bytes) -> bool:
        hashes.append(str(stored_hash))
        return verify(self, stored_hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", count)
    return hashes


@pytest.fixture
def production(app: Flask, settings: Settings) -> Iterator[Flask]:
    """The app as it is in production, behind a proxy, on the same database."""
    url = "https://feedback.example"
    production_app = create_app(
        replace(settings, stage=Stage.PRODUCTION, feedback_url=url, app_url="https://app.example", trusted_proxies=1)
    )
    yield production_app
    production_app.extensions["database"].dispose()


class Device:
    """An authenticator app and the recovery codes of a user who has enabled the second factor."""

    def __init__(self, app: Flask, company: Company) -> None:
        token = sign_in(app.test_client(), company).headers["Set-Cookie"].partition("=")[2].partition(";")[0]
        with transaction():
            login = sessions.find_login(token)
            assert login
            second_factor.begin_enrolment(login)
            enrolment = second_factor.find_enrolment(login)
            assert enrolment
            self.secret = enrolment.secret
            # The code of the step before, so that the current one is still to be used.
            first_code = pyotp.TOTP(self.secret).at(NOW, counter_offset=-1)
            self.recovery_codes = second_factor.confirm_enrolment(login, first_code)
            sessions.revoke_sessions_of(login.user_id)

    def code(self, steps: int = 0) -> str:
        return pyotp.TOTP(self.secret).at(NOW, counter_offset=steps)


@pytest.fixture
def device(app: Flask, company: Company, wait: Wait) -> Device:
    return Device(app, company)
