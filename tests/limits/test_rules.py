"""Windows, response fields and spellings of limits."""

import pytest

from app.core.limits.rules import address_prefix, limit_policy, quota_policy, rate_limit_fields, retry_after_s
from app.core.limits.server import storage_url
from config.limits import parse_limit


@pytest.mark.parametrize(
    ("address", "prefix"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("", "unknown"),
        ("203.0.113.7:5000", "unknown"),
        ("<script>", "unknown"),
    ],
)
def test_a_client_is_its_address_or_the_network_of_one_customer(address: str, prefix: str) -> None:
    assert address_prefix(address) == prefix


def test_the_fields_of_a_response_are_structured_and_name_the_policy() -> None:
    policy = limit_policy("capability", parse_limit("60/minute"), is_first_unit_shared=True)
    assert rate_limit_fields(policy, 0, 37) == {
        "Retry-After": "37",
        "RateLimit-Policy": '"capability";q=60;w=60',
        "RateLimit": '"capability";r=0;t=37',
    }


@pytest.mark.parametrize(
    ("text", "amount", "window_s", "period"),
    [
        ("600/minute", 600, 60, "minute"),
        ("10 per 5 minutes", 10, 300, "5 minutes"),
        ("3/second", 3, 1, "second"),
        ("1/day", 1, 86_400, "day"),
    ],
)
def test_a_limit_is_a_number_and_a_period(text: str, amount: int, window_s: int, period: str) -> None:
    policy = limit_policy("key", parse_limit(text), is_first_unit_shared=True)
    assert (policy.amount, policy.window_s, policy.period) == (amount, window_s, period)


def test_zero_is_no_limit() -> None:
    assert parse_limit("0") is None


@pytest.mark.parametrize(
    "text", ["many", "600", "0/minute", "-1/minute", "1/second;5/minute", "1/month", "1/fortnight"]
)
def test_any_other_text_is_no_limit_at_all(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_limit(text)


def test_a_quota_is_counted_by_utc_days() -> None:
    policy = quota_policy("events", 10)
    assert (policy.window(86_399.9), policy.window(86_400.0)) == (0, 1)


@pytest.mark.parametrize(("ends_at", "seconds"), [(100.0, 1), (100.2, 1), (101.0, 1), (101.5, 2), (160.0, 60)])
def test_the_wait_is_in_whole_seconds_and_never_none(ends_at: float, seconds: int) -> None:
    assert retry_after_s(ends_at, 100.0) == seconds


@pytest.mark.parametrize(
    ("broker_url", "url"),
    [
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://u:p@host/1?ssl_cert_reqs=required", "rediss://u:p@host/1?ssl_cert_reqs=required"),
        ("redis+socket:///run/valkey.sock?virtual_host=2", "redis+unix:///run/valkey.sock?db=2"),
    ],
)
def test_the_storage_gets_the_broker_in_its_own_spelling(broker_url: str, url: str) -> None:
    assert storage_url(broker_url) == url
