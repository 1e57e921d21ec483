"""What became of the events of a batch is counted once, in the transaction that stores them."""

import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from app.core.database import session, transaction
from app.telemetry.persistence import persist_waiting_batches
from tests.factories import Company, create_company, event, send_review
from tests.ledger.batches import batch_headers, counts, ledger, send
from tests.ledger.batches import ledger as show

DAY = {"source": "telemetry", "sdk": "python", "version": "1.2.3"}


def test_a_row_names_day_sdk_and_version(app: Flask, client: FlaskClient, company: Company) -> None:
    assert send(client, company, 3, batch_headers(uuid.uuid4(), lost="queue_full=12;undelivered=3")).status_code == 202
    assert ledger(app, company) == [
        {
            "day": datetime.now(UTC).date().isoformat(),
            **DAY,
            "accepted": 3,
            "duplicate": 0,
            "expired": 0,
            "refused": {},
            "lost": {"queue_full": 12, "undelivered": 3},
        }
    ]


def test_rows_are_those_of_one_environment(app: Flask, client: FlaskClient, company: Company) -> None:
    send(client, company, 3)
    persist_waiting_batches()
    with transaction():
        other_company = create_company()
    assert show(app, other_company) == []
    result = app.test_cli_runner().invoke(args=["ledger", "show", "--environment", str(uuid.uuid4())])
    assert (result.exit_code, "no environment" in result.output) == (1, True)


def test_rows_begin_with_a_day(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime.now(UTC)
    for days in (0, 3, 40):
        monkeypatch.setattr("app.core.clock.now", lambda days=days: now - timedelta(days=days))
        send(client, company)
        persist_waiting_batches()
    monkeypatch.undo()
    days_shown = [
        [row["day"] for row in show(app, company, *since)] for since in ([], ["--since", "3d"], ["--since", "50d"])
    ]
    assert [len(days) for days in days_shown] == [2, 2, 3]
    assert show(app, company, "--since", f"{now - timedelta(days=3):%Y-%m-%d}") == show(app, company, "--since", "3d")
    assert days_shown[2] == sorted(days_shown[2], reverse=True)


def test_the_first_event_of_an_interaction_is_accepted_and_others_are_duplicates(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    first, second = event(), event()
    send(client, company, [first, first, second])
    assert counts(app, company) == {"accepted": 2, "duplicate": 1}
    send(client, company, [first, event()])
    send(client, company, [event(), first])
    assert counts(app, company) == {"accepted": 4, "duplicate": 3}


def test_the_event_of_a_reviewed_interaction_is_its_first(app: Flask, client: FlaskClient, company: Company) -> None:
    from_review = event()
    assert send_review(client, company.capability(from_review["interactionId"])).status_code == 200
    with transaction():
        session().execute(
            text(
                "INSERT INTO interactions (environment_id, id, received_at, surface, operation, classification) "
                "VALUES (:environment_id, :id, now(), 'unknown', 'pending', 'unclassified')"
            ),
            {"environment_id": company.environment_id, "id": from_review["interactionId"]},
        )
    send(client, company, [from_review, event()])
    assert counts(app, company) == {"accepted": 2}
    send(client, company, [from_review])
    assert counts(app, company) == {"accepted": 2, "duplicate": 1}


@pytest.mark.parametrize("is_persisted_between", [False, True])
def test_a_repetition_of_a_batch_counts_nothing_twice(
    app: Flask, client: FlaskClient, company: Company, is_persisted_between: bool
) -> None:
    headers, events = batch_headers(uuid.uuid4(), lost="queue_full=2"), [event(), event()]
    for _ in range(3):
        send(client, company, events, headers)
        if is_persisted_between:
            persist_waiting_batches()
    assert counts(app, company) == {"accepted": 2, "lost": {"queue_full": 2}}


def test_an_id_that_is_used_for_other_events_costs_none_of_them(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    headers = batch_headers(uuid.uuid4(), lost="queue_full=2")
    for number in (2, 3):
        send(client, company, number, headers)
        persist_waiting_batches()
    assert counts(app, company) == {"accepted": 5, "lost": {"queue_full": 2}}


def test_the_same_id_of_another_environment_is_another_batch(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        session().execute(
            text("INSERT INTO ledger_batches (environment_id, id, expires_at) VALUES (:e, :i, now() + '1 day')"),
            {"e": uuid.uuid4(), "i": (batch_id := uuid.uuid4())},
        )
    send(client, company, 2, batch_headers(batch_id, lost="queue_full=2"))
    assert counts(app, company) == {"accepted": 2, "lost": {"queue_full": 2}}


def unanswered(batch_id: uuid.UUID, **changes: int) -> dict[str, str]:
    """Return the headers of a batch that reports another one of two events, which carried a loss, as unanswered."""
    members = {"undelivered": 2, "queue_full": 1, **changes}
    texts = [f"{reason}={count}" for reason, count in members.items()]
    return batch_headers(uuid.uuid4(), lost=";".join(texts), unanswered=f"{batch_id}:{','.join(texts)}")


def test_an_unanswered_batch_that_never_arrives_is_lost(app: Flask, client: FlaskClient, company: Company) -> None:
    batch_id = uuid.uuid4()
    # Told again, since the answer to the first report was lost as well.
    for _ in range(2):
        send(client, company, 1, unanswered(batch_id))
        persist_waiting_batches()
    assert counts(app, company) == {"accepted": 2, "lost": {"undelivered": 2, "queue_full": 1}}


@pytest.mark.parametrize("first", ["reported", "refused"])
def test_a_report_of_a_known_and_a_new_unanswered_batch_counts_both(
    app: Flask, client: FlaskClient, company: Company, first: str
) -> None:
    known_id, new_id = uuid.uuid4(), uuid.uuid4()
    if first == "reported":
        send(client, company, 1, unanswered(known_id))
    else:
        assert send(client, company, [{}, {}], batch_headers(known_id)).status_code == 422
    persist_waiting_batches()
    members = "undelivered=2,queue_full=1"
    report = {"lost": "undelivered=4;queue_full=2", "unanswered": f"{known_id}:{members};{new_id}:{members}"}
    send(client, company, 1, batch_headers(uuid.uuid4(), **report))
    accepted = 2 if first == "reported" else 1
    assert counts(app, company) == {"accepted": accepted, "lost": {"undelivered": 4, "queue_full": 2}}
    # What was counted in place of each is taken back once.
    for batch_id in (known_id, new_id):
        send(client, company, 2, batch_headers(batch_id, lost="queue_full=1"))
    assert counts(app, company) == {"accepted": accepted + 4, "lost": {"queue_full": 2}}


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("is_persisted_between", [True, False])
def test_an_unanswered_batch_that_has_arrived_is_not_lost(
    app: Flask, client: FlaskClient, company: Company, is_first: bool, is_persisted_between: bool
) -> None:
    batch_id, events = uuid.uuid4(), [event(), event()]
    requests: list[tuple[Any, dict[str, str]]] = [
        (events, batch_headers(batch_id, lost="queue_full=1")),
        (1, unanswered(batch_id)),
    ]
    # It may arrive after the report: a request that took long, and to which the sender did not listen any more.
    for sent_events, headers in requests if is_first else requests[::-1]:
        send(client, company, sent_events, headers)
        if is_persisted_between:
            persist_waiting_batches()
    send(client, company, *requests[0])
    assert counts(app, company) == {"accepted": 3, "lost": {"queue_full": 1}}


def test_a_batch_of_before_the_ledger_is_of_an_unknown_sender(app: Flask, company: Company) -> None:
    with transaction():
        session().execute(
            text(
                "INSERT INTO telemetry_inbox (environment_id, received_at, events, event_count) "
                "VALUES (:e, now(), '[]', 4)"
            ),
            {"e": company.environment_id},
        )
    row = ledger(app, company)[0]
    assert (row["sdk"], row["version"]) == ("unknown", "unknown")


def test_a_parked_batch_is_counted_when_it_is_repaired(app: Flask, company: Company) -> None:
    with transaction():
        session().execute(
            text(
                "INSERT INTO telemetry_inbox "
                "(environment_id, received_at, events, event_count, sdk, sdk_version, batch_id) VALUES ("
                ":e, now(), '[{\"interactionId\": \"broken\"}]', 1, 'python', '1.2.3', :i)"
            ),
            {"e": company.environment_id, "i": uuid.uuid4()},
        )
    assert counts(app, company) == {}
    with transaction():
        session().execute(
            text("UPDATE telemetry_inbox SET parked_at = NULL, events = :events"), {"events": json.dumps([event()])}
        )
    for _ in range(2):
        assert counts(app, company) == {"accepted": 1}


@pytest.mark.parametrize(
    "headers",
    [
        {"Agent-Feedback-Lost": "x" * 60_000},
        {"Agent-Feedback-Lost": "queue_full=-5;undelivered=99999999999999999999;\u0661=1"},
        {"Agent-Feedback-Batch": "' OR 1=1", "Agent-Feedback-Unanswered": "\u00ff" * 100},
        {"User-Agent": "agent-feedback-python/" + "9" * 5_000},
    ],
)
def test_hostile_headers_change_nothing(
    app: Flask, client: FlaskClient, company: Company, headers: dict[str, str]
) -> None:
    assert send(client, company, 2, headers).status_code == 202
    assert counts(app, company) == {"accepted": 2}


def test_many_huge_losses_add_up(app: Flask, client: FlaskClient, company: Company) -> None:
    for _ in range(5):
        send(client, company, 1, batch_headers(uuid.uuid4(), lost="queue_full=999999999"))
    assert counts(app, company)["lost"] == {"queue_full": 4_999_999_995}
