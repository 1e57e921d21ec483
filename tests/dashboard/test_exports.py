"""Exports of the tables that are no lists of interactions or feedback."""

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from app.accounts import users
from app.core.database import transaction
from app.dashboard import lists
from tests.context_api import ADVERTISING, ContextApi, item
from tests.dashboard.browser import send
from tests.dashboard.history import count_day, export
from tests.dashboard.lists import download
from tests.factories import Company, create_company, sign_in
from tests.reading.fixtures import NOW, Reader

FORMULA = "=cmd()"


def both(client: FlaskClient, path: str) -> tuple[list[dict[str, str]], list[dict[str, object]]]:
    return download(client, path, "csv"), download(client, path, "ndjson")


def test_customers_with_their_ids_and_refusals_over_all_batches(
    signed_in: FlaskClient, context_api: ContextApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "EXPORT_BATCH_SIZE", 1)
    context_api.answer(context_api.ask(userRef="u1").json, item())
    context_api.choose(context_api.ask(userRef="u2", purpose=ADVERTISING).json, "declined")
    rows, items = both(signed_in, "/customers")
    page = signed_in.get("/customers").text
    assert all(row["customerId"] in page for row in rows)
    assert sorted((row["signals"], row["declinedPurposes"]) for row in rows) == [
        ("0", f'["{ADVERTISING}"]'),
        ("1", "[]"),
    ]
    assert sorted(str(entry["declinedPurposes"]) for entry in items) == [f"['{ADVERTISING}']", "[]"]


def test_findings_with_topics_that_are_no_formulas(signed_in: FlaskClient, reader: Reader) -> None:
    findings = [{"kind": "friction", "topic": FORMULA, "severity": "blocking"}, {"kind": "gap", "topic": "late"}]
    reader.store_report(findings=findings)
    reader.store_report(findings=findings[:1])
    rows, items = both(signed_in, "/feedback/findings")
    assert [(row["topic"], row["kind"], row["reports"], row["blocking"]) for row in rows] == [
        (f"'{FORMULA}", "friction", "2", "2"),
        ("late", "gap", "1", "0"),
    ]
    assert items[0]["topic"] == FORMULA


def test_questions_own_built_in_and_former_with_their_counts(signed_in: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.pace", label=FORMULA)
    context_api.answer(context_api.ask().json, item("trip.pace", "slow"))
    context_api.ask()
    rows, items = both(signed_in, "/questions")
    assert (rows[0]["key"], rows[0]["label"]) == ("trip.pace", f"'{FORMULA}")
    assert (items[0]["origin"], items[0]["state"], items[0]["asked"], items[0]["answered"]) == ("own", "active", 2, 1)
    assert {(row["origin"], row["state"]) for row in rows[1:]} == {("built_in", "replaced")}


def test_the_team_with_invitations_for_those_who_see_them(
    client: FlaskClient, signed_in: FlaskClient, company: Company
) -> None:
    link = send(signed_in, "/team/invitations", email="guest@example.com", role="member").text
    with transaction():
        member = users.create_user(company.workspace_id, "member@example.com", "member")
    rows, items = both(signed_in, "/team")
    assert [(row["email"], row["role"], row["state"]) for row in rows] == [
        (company.email, "owner", "joined"),
        ("member@example.com", "member", "joined"),
        ("guest@example.com", "member", "invited"),
    ]
    assert items[0]["userId"] == rows[0]["userId"] != ""
    token = link.partition('id="invitation">')[2].partition("<")[0].rpartition("/")[2]
    assert token
    assert token not in str(items)
    client.post("/api/session", json={"email": member.email, "password": member.password})
    assert [row["email"] for row in download(client, "/team", "csv")] == [company.email, "member@example.com"]


def test_operations_with_every_figure_of_their_page_from_ten_observations_on(
    signed_in: FlaskClient, reader: Reader, company: Company
) -> None:
    count_day(company, "/orders", 30, 8, 0, 2, days_ago=1)
    count_day(company, "/few", 9, 8, 0, 0)
    for number in range(11):
        reader.store_interaction(timedelta(minutes=number), operation="/orders", duration_ms=number * 100.0)
    orders, few = download(signed_in, "/operations", "ndjson")
    assert orders["lastFailureOn"] == (NOW - timedelta(days=1)).date().isoformat()
    assert (round(orders["successLow"], 2), round(orders["successHigh"], 2)) == (0.49, 0.94)
    assert (orders["durationP50Ms"], orders["durationP95Ms"]) == (500.0, 950.0)
    assert [few[name] for name in ("lastFailureOn", "successLow", "durationP50Ms")] == [None, None, None]
    assert download(signed_in, "/operations", "csv")[0]["durationP95Ms"] == "950.0"


@pytest.mark.parametrize("path", ["/customers", "/feedback/findings", "/questions", "/team", "/operations"])
def test_an_export_has_nothing_of_another_company(
    signed_in: FlaskClient, reader: Reader, context_api: ContextApi, path: str
) -> None:
    count_day(reader.company, "/orders", 3)
    reader.store_report(findings=[{"kind": "gap", "topic": "late"}])
    context_api.put_field("trip.pace")
    context_api.ask(userRef="u1")
    name, own = key_of(path), f"{path}/export.ndjson"
    assert export(signed_in, own)
    rows = {row[name] for row in export(signed_in, own) if row.get("origin") != "built_in"}
    with transaction():
        other_company = create_company()
    sign_in(signed_in, other_company)
    assert not rows & {row[name] for row in export(signed_in, own)}
    assert signed_in.get(f"{own}?environment={reader.company.environment_id}").status_code == 404


def key_of(path: str) -> str:
    names = {"/customers": "customerId", "/feedback/findings": "topic", "/questions": "key", "/team": "userId"}
    return names.get(path, "operation")
