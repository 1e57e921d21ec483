"""The rules of evidence, without app or database."""

import hmac
import uuid
from datetime import UTC, date, datetime, time, timedelta

import pytest

from app.core.purposes import Pepper, Purpose
from app.evidence import rules

ENVIRONMENT = uuid.UUID("018f1f2e-7b4a-7c12-9c8d-123456789abc")
KEY = Pepper(b"pepper").derive(Purpose.EVIDENCE_IDS, ENVIRONMENT)


@pytest.mark.parametrize(
    "text",
    [
        "192.168.10.1",
        "8.8.8.8:443",
        "010.001.002.003",
        "999.999.999.999",
        "2001:db8::1",
        "2001:0DB8:0000:0000:0000:0000:0000:0001",
        "::ffff:10.0.0.1",
        "fe80::1:2:3",
        "64:ff9b::8.8.8.8",
    ],
)
def test_an_address_is_recognised(text: str) -> None:
    assert rules.is_address(text)


@pytest.mark.parametrize(
    "text", ["event_0001", "1.2.3.4.5.6", "deadbeef", "00:11:22:33:44:55", "2026-01-31T12:00:00", "a" * 64, "12345678"]
)
def test_what_is_no_address_is_left_alone(text: str) -> None:
    assert not rules.is_address(text)


def test_ids_are_hidden_under_a_key_of_their_environment() -> None:
    assert Pepper(b"pepper").derive(Purpose.EVIDENCE_IDS, ENVIRONMENT) == KEY
    assert (
        len(
            {
                KEY,
                Pepper(b"other").derive(Purpose.EVIDENCE_IDS, ENVIRONMENT),
                Pepper(b"pepper").derive(Purpose.EVIDENCE_IDS, uuid.uuid4()),
            }
        )
        == 3
    )
    assert len(rules.source_digest(KEY, "cdn_log", "cdn", "source_0001")) == 32


def test_kind_provider_and_id_of_a_source_and_the_event_all_count() -> None:
    source = rules.source_digest(KEY, "cdn_log", "cdn", "source_0001")
    other_sources = [
        ("edge_worker", "cdn", "source_0001"),
        ("cdn_log", "cdn2", "source_0001"),
        ("cdn_log", "cdn", "2ource_0001"),
    ]
    digests = {source, *(rules.source_digest(KEY, *parts) for parts in other_sources)}
    assert len(digests) == 4
    hmacs = [rules.source_hmac_of(KEY, source) for source in digests]
    events = {rules.event_digest(source_hmac, name) for source_hmac in hmacs for name in ("event_0001", "event_0002")}
    assert len(events) == 8
    assert rules.event_digest(hmacs[0], "event_0001") in events
    assert rules.event_digest(rules.source_hmac_of(KEY, source), "event_0001") == hmac.digest(
        KEY, source + b"event_0001", "sha256"
    )


@pytest.mark.parametrize(
    ("requested_days", "retention_days", "days"), [(30, 90, 30), (365, 90, 90), (1, 365, 1), (7, 7, 7)]
)
def test_a_window_is_no_longer_than_what_is_kept(requested_days: int, retention_days: int, days: int) -> None:
    now = datetime(2026, 3, 1, 0, 0, 1, tzinfo=UTC)
    window = rules.window(now, requested_days, retention_days)
    assert (window.days, window.last_on) == (days, date(2026, 3, 1))
    assert window.last_on - window.first_on == timedelta(days=days - 1)
    assert datetime.combine(window.first_on, time(), UTC) >= now - timedelta(days=retention_days)
