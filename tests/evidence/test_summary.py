"""The summary of an environment's evidence."""

import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from app.core.database import session, transaction
from app.core.errors import NotFound
from app.evidence import counts, queries
from app.evidence.models import EvidenceChange, EvidenceDay
from app.products import service as products
from app.retention import service as retention
from tests.evidence.raw import summary, summary_and_expectation
from tests.factories import Company, create_company, observation, send_evidence

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def fixed_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, NOW)


def set_clock(monkeypatch: pytest.MonkeyPatch, moment: datetime) -> None:
    monkeypatch.setattr("app.core.clock.now", lambda: moment)


def make_event(days_ago: float = 0, **details: Any) -> dict[str, Any]:
    return observation(observedAt=(NOW - timedelta(days=days_ago)).isoformat(), **details)


def read_summary(company: Company, days: int = 30) -> dict[str, Any]:
    with transaction():
        return summary(company, days)


def fill(client: FlaskClient, company: Company) -> None:
    evidence = {"networkEvidence": {"method": "published_ip_range"}}
    events = [
        make_event(agentToken="GPTBot"),
        make_event(1, agentToken="GPTBot"),
        make_event(1, agentToken="bingbot", **evidence),
    ]
    events += [
        make_event(agentToken="Claude-User", referrerHost="claude.ai"),
        make_event(2, referrerHost="www.meta.ai"),
    ]
    send_evidence(client, company, *events)
    send_evidence(
        client, company, make_event(2, agentToken="GPTBot"), source={"kind": "server_log", "provider": "nginx"}
    )


def test_everything_is_counted_by_its_own_name(client: FlaskClient, company: Company) -> None:
    fill(client, company)
    expected = {
        "productId": str(company.product_id),
        "environmentId": str(company.environment_id),
        "window": {"days": 3, "requestedDays": 3, "from": "2026-05-30", "to": "2026-06-01", "retentionDays": 90},
        "totals": {"events": 6, "fetches": 5, "referrals": 2},
        "byActorProvider": [
            {"name": "openai", "count": 3},
            {"name": "anthropic", "count": 1},
            {"name": "microsoft", "count": 1},
        ],
        "byFetchClass": [
            {"name": "crawling", "count": 3},
            {"name": "search", "count": 1},
            {"name": "user_fetch", "count": 1},
        ],
        "byEvidenceTier": [{"name": "claimed", "count": 4}, {"name": "source_attested", "count": 1}],
        "byReferralProvider": [{"name": "anthropic", "count": 1}, {"name": "meta", "count": 1}],
        "bySource": [
            {"kind": "cdn_log", "provider": "example-cdn", "count": 5},
            {"kind": "server_log", "provider": "nginx", "count": 1},
        ],
        "byNetworkEvidenceMethod": [{"name": "published_ip_range", "count": 1}],
        "daily": [
            {"date": "2026-05-30", "fetches": 1, "referrals": 1},
            {"date": "2026-05-31", "fetches": 2, "referrals": 0},
            {"date": "2026-06-01", "fetches": 2, "referrals": 1},
        ],
    }
    assert read_summary(company, 3) == expected
    counts.roll_up_changes()
    assert read_summary(company, 3) == expected


def test_an_environment_without_evidence_has_a_summary_of_nothing(company: Company) -> None:
    summary = read_summary(company)
    assert summary["totals"] == {"events": 0, "fetches": 0, "referrals": 0}
    assert [counts for name, counts in summary.items() if name.startswith("by")] == [[]] * 6
    assert len(summary["daily"]) == 30
    assert not any(day["fetches"] or day["referrals"] for day in summary["daily"])


def test_the_window_is_whole_days_ending_today(client: FlaskClient, company: Company) -> None:
    midnight = NOW.replace(hour=0)
    for moment in (midnight - timedelta(days=6, microseconds=1), midnight - timedelta(days=6), NOW):
        send_evidence(client, company, observation(observedAt=moment.isoformat()))
    assert read_summary(company, 7)["totals"]["events"] == 2
    assert read_summary(company, 8)["totals"]["events"] == 3


def test_retention_caps_the_window_at_once(client: FlaskClient, company: Company) -> None:
    fill(client, company)
    counts.roll_up_changes()
    with transaction():
        products.set_environment(company.environment_id, evidence_retention_days=2)
    summary = read_summary(company, 365)
    assert (summary["window"]["days"], summary["window"]["requestedDays"], summary["window"]["retentionDays"]) == (
        2,
        365,
        2,
    )
    assert (summary["window"]["from"], len(summary["daily"])) == ("2026-05-31", 2)
    assert summary["totals"]["events"] == 4


def test_a_late_event_is_counted_on_its_day(client: FlaskClient, company: Company) -> None:
    fill(client, company)
    counts.roll_up_changes()
    send_evidence(client, company, make_event(2))
    assert read_summary(company, 3)["daily"][0]["fetches"] == 2
    assert counts.roll_up_changes() == 1
    assert read_summary(company, 3)["daily"][0]["fetches"] == 2


def test_rolling_up_twice_changes_nothing(client: FlaskClient, company: Company) -> None:
    fill(client, company)
    first_summary = read_summary(company)
    assert counts.roll_up_changes() == 6
    assert counts.roll_up_changes() == 0
    assert read_summary(company) == first_summary
    with transaction():
        assert session().scalars(select(EvidenceChange)).all() == []


def test_a_roll_up_goes_in_batches(client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(client, company)
    first_summary = read_summary(company)
    monkeypatch.setattr("app.evidence.counts.BATCH_SIZE", 2)
    assert counts.roll_up_changes() == 6
    assert read_summary(company) == first_summary


def test_what_expires_leaves_the_counts_and_no_empty_ones_behind(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(client, company)
    counts.roll_up_changes()
    set_clock(monkeypatch, NOW + timedelta(days=88, seconds=1))
    assert retention.expire_evidence().row_count == 2
    assert summary_and_expectation(company, 365)[0] == summary_and_expectation(company, 365)[1]
    counts.roll_up_changes()
    assert summary_and_expectation(company, 365)[0]["totals"]["events"] == 4
    with transaction():
        assert min(session().scalars(select(EvidenceDay.day_on))).isoformat() == "2026-05-31"
    set_clock(monkeypatch, NOW + timedelta(days=91))
    retention.expire_evidence()
    counts.roll_up_changes()
    with transaction():
        assert session().scalars(select(EvidenceDay)).all() == []


def test_nothing_in_a_summary_points_at_a_row(client: FlaskClient, company: Company) -> None:
    send_evidence(client, company, observation("event_telling", observedAt=NOW.isoformat()))
    text = str(read_summary(company))
    assert "telling" not in text
    assert "source_0001" not in text


def test_only_the_workspace_s_own_product_and_environment_are_found(company: Company) -> None:
    with transaction():
        other_company = create_company()
        second = products.create_product(company.workspace_id, "Second product").id
    for workspace, product, environment in (
        (other_company.workspace_id, company.product_id, company.environment_id),
        (company.workspace_id, other_company.product_id, other_company.environment_id),
        (company.workspace_id, company.product_id, other_company.environment_id),
        (company.workspace_id, second, company.environment_id),
        (company.workspace_id, uuid.uuid4(), company.environment_id),
        (company.workspace_id, company.product_id, uuid.uuid4()),
    ):
        with pytest.raises(NotFound), transaction():
            queries.summarize(workspace, product, environment, 30)


def test_summaries_of_different_environments_do_not_meet(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    fill(client, company)
    assert read_summary(other_company)["totals"]["events"] == 0
    counts.roll_up_changes()
    assert read_summary(other_company)["totals"]["events"] == 0
