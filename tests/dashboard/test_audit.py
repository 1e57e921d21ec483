"""The audit page says who has changed what, from what to what."""

import json
import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select, text

from app.accounts import queries, users
from app.accounts.models import AuditEntry
from app.accounts.service import record_audit_entry
from app.core import clock
from app.core.database import session, transaction
from app.core.wire.fields import EARLIEST
from app.dashboard.rules import Change, list_changes
from app.products import service as products
from app.products.rules import KeyKind, Mode
from tests.context_api import Clock
from tests.factories import Company, create_company, sign_in
from tests.reading.fixtures import forge_cursor

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def rows(client: FlaskClient, path: str = "/audit") -> list[str]:
    """Return the entries of a page without their markup."""
    body = client.get(path).text.partition("<tbody>")[2].partition("</tbody>")[0]
    texts = [re.sub(r"<[^>]+>", " ", row) for row in re.findall(r"<tr>.*?</tr>", body, re.DOTALL)]
    return [" ".join(unescape(text).split()) for text in texts]


def add_entries(company: Company, count: int, actor: str = "command line", action: str = "job.done") -> None:
    with transaction():
        for number in range(count):
            record_audit_entry(company.workspace_id, actor, action, "subject", number=number)


def test_changes_name_what_was_before() -> None:
    details = {"mode": "off", "retention_days": 5, "previous": {"mode": "ask_once", "retention_days": 90}}
    assert list_changes(details) == [Change("mode", "ask_once", "off"), Change("retention_days", 90, 5)]
    assert list_changes({"role": "admin", "previous": "member"}) == [Change("role", "member", "admin")]
    assert list_changes({"kind": "read", "replaces": None}) == [Change("kind", None, "read")]


def test_entries_are_those_of_the_days_that_are_shown(owner: FlaskClient, company: Company) -> None:
    add_entries(company, 2, action="job.done")
    with transaction():
        statement = (
            "UPDATE audit_entries SET at = at - interval '5 days', action = 'job.old' WHERE details->>'number' = '0'"
        )
        session().execute(text(statement))
    shown = ["".join(rows(owner, f"/audit?action=job&days={days}")) for days in (1, 7)]
    assert [(page.count("job.done"), page.count("job.old")) for page in shown] == [(1, 0), (1, 1)]
    exported = owner.get("/audit/export.ndjson?action=job&days=1").text
    assert (exported.count("job.done"), exported.count("job.old")) == (1, 0)


def test_the_count_is_of_the_days_that_are_shown_however_much_is_older(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_entries(company, 12)
    monkeypatch.setattr(queries, "SCAN_LIMIT", 6)
    with transaction():
        older = "CAST(details->>'number' AS integer) < 9"
        session().execute(text(f"UPDATE audit_entries SET at = at - interval '5 days' WHERE {older}"))
        since = clock.now() - timedelta(days=1)
        counts = [queries.count_audit_entries(company.workspace_id, {}, moment) for moment in (since, EARLIEST)]
    assert [(count.number, count.is_complete) for count in counts] == [(3, True), (7, False)]


def test_fields_and_refusals_name_what_was_before() -> None:
    written = {"product": "p", "before": {"enabled": True, "label": {"en": "Size"}}, "after": {"enabled": False}}
    assert list_changes({**written, "after": {"enabled": False, "allowedValues": ["s", "m"]}}) == [
        Change("product", None, "p"),
        Change("enabled", "yes", "no"),
        Change("allowedValues", None, "s, m"),
        Change("label", "en: Size", "none"),
    ]
    deleted = {"product": "p", "before": {"operations": ["/a", "/b"], "allowedValues": None}}
    assert list_changes(deleted) == [Change("product", None, "p"), Change("operations", "/a, /b", "none")]
    refused = {"before": {"personalization": None}, "after": {"personalization": "declined"}}
    assert list_changes(refused) == [Change("personalization", "none", "declined")]


def test_taking_an_assignee_away_is_a_change() -> None:
    details = {"state": "new", "assignee": None, "previous": {"state": "new", "assignee": "somebody"}}
    assert list_changes(details) == [Change("assignee", "somebody", "nobody")]
    details = {"assignee": "somebody", "previous": {"assignee": None}}
    assert list_changes(details) == [Change("assignee", "nobody", "somebody")]


def entries_of_keys(company: Company) -> dict[str, dict[str, Any]]:
    with transaction():
        statement = select(AuditEntry).where(AuditEntry.workspace_id == company.workspace_id).order_by(AuditEntry.id)
        entries = session().scalars(statement)
        return {entry.action: entry.details for entry in entries if entry.action.startswith("key.")}


def test_a_created_key_has_its_right_and_expiry(owner: FlaskClient, company: Company, clock: Clock) -> None:
    with transaction():
        options = {"has_company_right": True, "expires_in": timedelta(days=2)}
        products.create_key(company.environment_id, KeyKind.PRODUCT, **options)
    expires_at = clock.now + timedelta(days=2)
    details = {"kind": "product", "has_company_right": True, "expires_at": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}"}
    assert entries_of_keys(company) == {"key.created": details}
    (row,) = rows(owner, "/audit?action=key.created")[:1]
    assert f"expires at {expires_at:%-d %b %Y, %H:%M} UTC" in row
    assert "has company right yes" in row
    assert f'<time datetime="{details["expires_at"]}"' in owner.get("/audit").text


def test_a_rotated_key_has_the_expiry_of_the_old_one_before_and_after(
    owner: FlaskClient, company: Company, clock: Clock
) -> None:
    old_id = company.product_key.split("_")[2]
    with transaction():
        new_id = products.rotate_key(old_id, 24).id
    overlap_ends_at = clock.now + timedelta(hours=24)
    details = entries_of_keys(company)["key.rotated"]
    assert details == {
        "kind": "product",
        "has_company_right": False,
        "expires_at": None,
        "replaces": old_id,
        "replaced_key_expires_at": f"{overlap_ends_at:%Y-%m-%dT%H:%M:%SZ}",
        "previous": {"replaced_key_expires_at": None},
    }
    (row,) = rows(owner, "/audit?action=key.rotated")
    assert f"replaced key expires at never → {overlap_ends_at:%-d %b %Y, %H:%M} UTC" in row
    with transaction():
        products.get_key(new_id).expires_at = overlap_ends_at
    with transaction():
        products.rotate_key(new_id, 1)
    details = entries_of_keys(company)["key.rotated"]
    assert (
        details["expires_at"]
        == details["previous"]["replaced_key_expires_at"]
        == (f"{overlap_ends_at:%Y-%m-%dT%H:%M:%SZ}")
    )


def test_a_revoked_key_has_its_kind(company: Company) -> None:
    with transaction():
        products.revoke_key(company.company_key.split("_")[2])
    assert entries_of_keys(company)["key.revoked"] == {"kind": "company"}


@pytest.mark.parametrize("value", ["soon", "2026-13-01T00:00:00Z", 5, ["a"]])
def test_an_expiry_that_is_no_instant_is_shown_as_it_is(value: object) -> None:
    shown = "a" if value == ["a"] else value
    assert list_changes({"expires_at": value}) == [Change("expires_at", None, shown)]


def test_users_of_other_workspaces_are_shown_by_id(owner: FlaskClient, company: Company) -> None:
    with transaction():
        other = create_company()
        stranger_id = users.list_members(other.workspace_id)[0].user_id
        record_audit_entry(
            company.workspace_id, f"user {stranger_id}", "feedback.triaged", str(stranger_id), assignee=str(stranger_id)
        )
    (row,) = rows(owner, "/audit?action=feedback.triaged")
    assert f"assignee {stranger_id}" in row
    for path in ("/audit", "/audit/export.csv", "/audit/export.ndjson"):
        assert other.email not in owner.get(path).text
    assert rows(owner, f"/audit?actor={other.email}") == []
    assert len(rows(owner, f"/audit?actor={stranger_id}")) == 1


def test_an_entry_has_actor_action_subject_and_values(owner: FlaskClient, company: Company) -> None:
    with transaction():
        owner_id = users.list_members(company.workspace_id)[0].user_id
        products.set_environment(company.environment_id, mode=Mode.OFF, actor=f"user {owner_id}")
    newest = rows(owner)[0]
    assert company.email in newest
    assert "environment.changed Example product · production mode never_ask → off" in newest


def test_a_removed_actor_is_shown_by_id(owner: FlaskClient, company: Company) -> None:
    actor = "user 018f1f2e-7b4a-4c12-9c8d-123456789abc"
    add_entries(company, 1, actor)
    assert actor in rows(owner)[0]


def test_filters_by_actor_and_action(owner: FlaskClient, company: Company) -> None:
    add_entries(company, 2)
    assert len(rows(owner, "/audit?action=job")) == 2
    assert len(rows(owner, "/audit?action=job.done&actor=command%20line")) == 2
    (entry,) = rows(owner, f"/audit?actor={company.email}")
    assert "session.created" in entry
    assert rows(owner, "/audit?action=job&actor=nobody@example.com") == []
    assert "what the filters ask for" in owner.get("/audit?action=job.undone").text
    assert owner.get(f"/audit?action={'x' * 101}").status_code == 422


def test_pages_continue_by_key_and_repeat_nothing(owner: FlaskClient, company: Company) -> None:
    add_entries(company, 60)
    page, seen = owner.get("/audit?action=job").text, rows(owner, "/audit?action=job")
    match = re.search(r'rel="next" href="([^"]+)"', page)
    assert match is not None
    next_url = unescape(match[1])
    seen += rows(owner, next_url)
    numbers = [row.rpartition(" ")[2] for row in seen]
    assert numbers == [str(number) for number in reversed(range(60))]
    assert 'rel="next"' not in owner.get(next_url).text
    assert owner.get(next_url.replace("after=", "after=x")).status_code == 422
    assert owner.get(next_url.replace("action=job", "action=key")).status_code == 422
    cursor = next_url.partition("after=")[2].partition("&")[0]
    for place in (["1_0"], [" 1 "], ["\N{ARABIC-INDIC DIGIT ONE}"], ["0"], ["-1"], ["1", "2"], [str(2**63)], []):
        assert owner.get(next_url.replace(cursor, forge_cursor(cursor, place))).status_code == 422
    assert owner.get(next_url.replace(cursor, forge_cursor(cursor, ["1"]))).status_code == 200


def test_a_rare_action_is_found_behind_many_others(
    owner: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "SCAN_LIMIT", 60)
    add_entries(company, 1, action="rare.one")
    add_entries(company, 70)
    page = owner.get("/audit?action=rare").text
    assert rows(owner, "/audit?action=rare") == []
    match = re.search(r'rel="next" href="([^"]+)"', page)
    assert match is not None
    assert "rare.one" in rows(owner, unescape(match[1]))[0]


def test_the_export_has_the_entries_of_the_filters(owner: FlaskClient, company: Company) -> None:
    with transaction():
        record_audit_entry(company.workspace_id, "command line", "job.done", "=1+1", note="a")
    lines = [json.loads(line) for line in owner.get("/audit/export.ndjson?action=job").text.splitlines()]
    assert [(line["subject"], line["details"]) for line in lines] == [("=1+1", {"note": "a"})]
    answer = owner.get("/audit/export.csv?action=job")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="audit.csv"'
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "no-store" in answer.headers["Cache-Control"]
    header, line = answer.text.splitlines()
    assert header == "id,at,actor,actorEmail,action,subject,details"
    assert line.endswith("""job.done,'=1+1,"{""note"":""a""}\"""")


def test_what_was_written_is_escaped(owner: FlaskClient, company: Company) -> None:
    with transaction():
        products.rename_product(company.product_id, HOSTILE)
        record_audit_entry(company.workspace_id, HOSTILE, HOSTILE, HOSTILE, previous={"a": HOSTILE}, a=HOSTILE)
    page = owner.get("/audit").text
    assert HOSTILE not in page
    assert page.count("&lt;script&gt;") > 4


def test_entries_of_another_workspace_are_not_shown(owner: FlaskClient) -> None:
    with transaction():
        other = create_company()
    add_entries(other, 1, action="other.thing")
    assert not [row for row in rows(owner) if "other.thing" in row]
    assert "other.thing" not in owner.get("/audit/export.csv").text


def test_a_member_reads_the_audit_log(client: FlaskClient, company: Company) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, "member@example.com", "member")
    sign_in(client, company, json={"email": user.email, "password": user.password})
    assert client.get("/audit").status_code == 200


def test_a_user_of_a_change_is_named(owner: FlaskClient, company: Company) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, "colleague@example.com", "member")
        details = {"assignee": str(user.id), "previous": None}
        record_audit_entry(company.workspace_id, "command line", "feedback.triaged", "a review", **details)
    (row,) = rows(owner, "/audit?action=feedback.triaged")
    assert "assignee colleague@example.com" in row
