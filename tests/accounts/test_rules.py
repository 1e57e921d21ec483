"""The rules of accounts."""

from datetime import UTC, datetime, timedelta

import pytest

from app.accounts.rules import (
    ACCOUNT_ADDRESS_LIMIT,
    ADDRESS_LIMIT,
    CODE_LIMIT,
    ROLES,
    Client,
    Limit,
    is_email,
    may_change,
    password_problem,
    session_expiry,
)
from app.accounts.schemas import CredentialsSchema
from app.core.errors import ApiError

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_owners_and_admins_may_change_things_and_members_may_only_read() -> None:
    assert {role: may_change(role) for role in ROLES} == {"owner": True, "admin": True, "member": False}
    assert not may_change("anybody")


def test_a_session_ends_twelve_hours_after_it_was_last_used() -> None:
    assert session_expiry(NOW, NOW + timedelta(days=1)) == NOW + timedelta(days=1, hours=12)


def test_no_session_lives_longer_than_thirty_days() -> None:
    assert session_expiry(NOW, NOW + timedelta(days=29, hours=23)) == NOW + timedelta(days=30)


def test_the_first_attempts_are_free_and_every_further_one_waits_longer() -> None:
    waits = [int(ACCOUNT_ADDRESS_LIMIT.wait(failures).total_seconds()) for failures in range(1, 20)]
    assert waits[:9] == [0, 0, 0, 0, 0, 2, 4, 8, 16]
    assert waits == sorted(waits)
    assert waits[-1] == 15 * 60


@pytest.mark.parametrize("limit", [ACCOUNT_ADDRESS_LIMIT, ADDRESS_LIMIT, CODE_LIMIT])
def test_every_wait_is_bounded_and_shorter_than_its_counter_lives(limit: Limit) -> None:
    assert limit.wait(1_000_000_000) == timedelta(seconds=limit.max_wait_s) < limit.reset_after


@pytest.mark.parametrize(
    "text", ["", "nobody", "a@b", "a b@example.com", "a@example.com\n", "x" * 250 + "@example.com"]
)
def test_a_text_without_the_form_of_an_address_is_rejected(text: str) -> None:
    assert not is_email(text)


def test_a_password_is_long_and_neither_monotonous_nor_the_users_name() -> None:
    email = "alice@example.com"
    assert password_problem("correct horse battery", email) is None
    assert password_problem("a" * 12 + "bcdefg", email) is None
    assert "12 to 200" in (password_problem("elevenchars", email) or "")
    assert "repeats" in (password_problem("abcabcabcabcabc", email) or "")
    assert "e-mail" in (password_problem("x-Alice-2026-x!", email) or "")
    # A short name is in many passwords by chance.
    assert password_problem("correct horse battery", "bat@example.com") is None


@pytest.mark.parametrize(
    "text", [*(chr(code) for code in (*range(32), *range(0x7F, 0xA0))), "\xa0", "\u200b", "\U0001f40e", "é"]
)
def test_a_password_is_valid_where_it_can_be_signed_in_with(text: str) -> None:
    for password in (f"correct horse{text}battery", "\u2000\u2001\u2002\u2003\u2004\u2005" * 2 + text):
        try:
            CredentialsSchema().accept({"email": "alice@example.com", "password": password})
        except ApiError:
            is_accepted = False
        else:
            is_accepted = True
        assert (password_problem(password, "alice@example.com") is None) is is_accepted


def test_of_a_client_only_what_is_coarse_is_told() -> None:
    assert Client("203.0.113.77", "Mozilla/5.0 Firefox/140.0").network == "203.0.113.0/24"
    assert Client("203.0.113.77", "Mozilla/5.0 Firefox/140.0").browser == "firefox"
    assert Client("", "x" * 512 + "Firefox/140.0").browser == "other"
    assert (Client("").network, Client("unix:").network, Client("").browser) == (None, None, "other")
