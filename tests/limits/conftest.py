"""Limiters with the limits of a test, on the real server, and a clock that moves only when told."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask import Flask

from app.cli.dev.server_process import socket_folder
from app.cli.dev.valkey import EmbeddedValkey
from app.core.limits.counters import SharedCounters
from app.core.limits.limiter import Limiter
from app.core.limits.server import CounterServer
from config.limits import LimitName, QuotaName, parse_limit
from config.settings import Settings
from tests.conftest import Servers

START = 1_800_000_000.0 - 1_800_000_000.0 % 86_400 + 23.0
"""23 seconds into a UTC day, and so into a minute."""


class Timer:
    """Seconds since 1970, as a test sets them."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def timer() -> Timer:
    return Timer()


@pytest.fixture
def digest_key() -> bytes:
    """A key of each test's own, so that no test counts what another has counted on the server."""
    return secrets.token_bytes(32)


MakeCounters = Callable[[], SharedCounters]


@pytest.fixture
def make_counters(servers: Servers, digest_key: bytes, timer: Timer) -> MakeCounters:
    """Return the counters of one more process."""
    return lambda: SharedCounters(CounterServer(servers.broker_url, digest_key), timer)


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[EmbeddedValkey]:
    """A server that a test may stop."""
    valkey = EmbeddedValkey(socket_folder(), tmp_path / "valkey.log")
    valkey.start()
    yield valkey
    valkey.stop()


SetLimits = Callable[..., Limiter]


@pytest.fixture
def set_limits(
    app: Flask, settings: Settings, make_counters: MakeCounters, monkeypatch: pytest.MonkeyPatch
) -> SetLimits:
    """Give the app these limits and quotas, and no others."""

    def give(**texts: str | int) -> Limiter:
        limits = {name: parse_limit(str(texts.pop(name, "0"))) for name in LimitName}
        quotas = {name: int(texts.pop(name, 0)) for name in QuotaName}
        assert texts == {}
        limiter = Limiter(replace(settings, limits=limits, quotas=quotas), make_counters())
        monkeypatch.setitem(app.extensions, "limiter", limiter)
        return limiter

    return give
