"""flask review list and flask report list."""

import json
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from app.cli import feedback, follower
from app.core.database import session, transaction
from app.interactions import service as interactions
from app.outcomes.models import Review
from app.telemetry import persistence
from tests.factories import Company, bearer, create_company, event, send_events, send_review


def run(app: Flask, *arguments: str) -> Any:
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.output) if "--json" in arguments else result.output


def submit_review(client: FlaskClient, company: Company, operation: str, outcome: str, note: str) -> str:
    interaction = event(operation=operation)
    send_events(client, company, interaction)
    assert send_review(client, company.capability(interaction["interactionId"]), outcome, note).status_code == 200
    persistence.persist_waiting_batches()
    interaction_id: str = interaction["interactionId"]
    return interaction_id


def test_a_review_is_listed_with_its_operation_newest_first(app: Flask, client: FlaskClient, company: Company) -> None:
    first_id = submit_review(client, company, "/orders", "success", "Everything was there.")
    second_id = submit_review(client, company, "/carts", "failure", "The cart stayed empty.")
    rows = run(app, "review", "list", "--json")
    assert [row["interactionId"] for row in rows] == [second_id, first_id]
    assert (rows[0]["outcome"], rows[0]["note"], rows[0]["operation"], rows[0]["environmentId"]) == (
        "failure",
        "The cart stayed empty.",
        "/carts",
        str(company.environment_id),
    )
    assert rows[0]["createdAt"].endswith("Z")
    line = run(app, "review", "list").splitlines()[0]
    assert all(text in line for text in (second_id, "failure", "/carts", "The cart stayed empty."))


def test_a_list_can_be_filtered(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    own_id = submit_review(client, company, "/orders", "success", "Everything was there.")
    submit_review(client, company, "/carts", "partial", "Half of it was there.")
    other_id = submit_review(client, other_company, "/orders", "failure", "Nothing was there.")

    def list_ids(*options: str) -> set[str]:
        return {row["interactionId"] for row in run(app, "review", "list", "--json", *options)}

    assert list_ids("--operation", "/orders") == {own_id, other_id}
    assert list_ids("--outcome", "failure") == {other_id}
    assert list_ids("--environment", str(other_company.environment_id)) == {other_id}
    assert list_ids("--operation", "/orders", "--outcome", "partial") == set()
    assert len(list_ids("--limit", "2")) == 2


def test_a_review_without_telemetry_is_pending(app: Flask, client: FlaskClient, company: Company) -> None:
    send_review(client, company.capability())
    assert run(app, "review", "list", "--json")[0]["operation"] == "pending"
    interactions.promote_queued_interactions()
    assert len(run(app, "review", "list", "--json", "--operation", "pending")) == 1


def test_an_environment_that_is_not_there_is_an_error(app: Flask) -> None:
    result = app.test_cli_runner().invoke(args=["review", "list", "--environment", str(uuid.uuid4())])
    assert (result.exit_code, "There is no environment" in result.output) == (1, True)


def test_a_report_is_listed_with_its_impact_and_summary(app: Flask, client: FlaskClient, company: Company) -> None:
    body = {"summary": "The dates were wrong.", "impact": "hindered"}
    client.post("/api/v2/reports", json=body, headers=bearer(company.capability()))
    rows = run(app, "report", "list", "--json", "--outcome", "hindered")
    assert [(row["outcome"], row["note"]) for row in rows] == [("hindered", "The dates were wrong.")]
    assert "The dates were wrong." in run(app, "report", "list")


def test_text_of_agents_cannot_control_the_terminal(app: Flask, client: FlaskClient, company: Company) -> None:
    send_review(client, company.capability())
    with transaction():
        session().execute(update(Review).values(note="red \x1b[31m \x9b0m \u202eback\u2028line"))
    output = run(app, "review", "list")
    assert "red \\x1b[31m \\x9b0m \\u202eback\\u2028line" in output
    assert run(app, "review", "list", "--json")[0]["note"] == "red \x1b[31m \x9b0m \u202eback\u2028line"
    assert app.test_cli_runner().invoke(args=["review", "list", "--json"]).output.isascii()


class EndOfTest(KeyboardInterrupt):
    """Ends the command as Ctrl-C does."""


def follow(
    app: Flask, monkeypatch: pytest.MonkeyPatch, steps: list[Callable[[], Any]], *options: str
) -> list[dict[str, Any]]:
    """Follow the reviews, run one of the steps after each poll, and return the lines."""
    iterator = iter(steps)

    def sleep(_: float) -> None:
        step = next(iterator, None)
        if step is None:
            raise EndOfTest
        step()

    monkeypatch.setattr(feedback, "sleep", sleep)
    result = app.test_cli_runner().invoke(args=["review", "list", "--follow", "--json", *options])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.output.splitlines()]


def test_following_prints_each_review_once_the_newest_last(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = [f"Review number {number} of five." for number in range(5)]
    for note in notes[:3]:
        send_review(client, company.capability(), note=note)
    arrivals: list[Callable[[], Any]] = [
        lambda: send_review(client, company.capability(), note=notes[3]),
        lambda: None,
        lambda: send_review(client, company.capability(), note=notes[4]),
        lambda: None,
    ]
    monkeypatch.setattr(follower, "PAGE_SIZE", 2)
    assert [row["note"] for row in follow(app, monkeypatch, arrivals, "--limit", "2")] == notes[1:]


def test_following_an_empty_list_waits_for_the_first_review(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrivals = [lambda: send_review(client, company.capability())]
    assert len(follow(app, monkeypatch, [*arrivals, lambda: None])) == 1


def test_following_misses_no_review_that_became_visible_late(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    def arrive_late() -> None:
        token = company.capability(late_id := str(uuid.uuid4()))
        send_review(client, token, note="This one was late.")
        with transaction():
            change = update(Review).where(Review.interaction_id == uuid.UUID(late_id))
            session().execute(change.values(created_at=Review.created_at - timedelta(seconds=5)))

    send_review(client, company.capability())
    lines = follow(app, monkeypatch, [arrive_late, lambda: None])
    assert [row["note"] for row in lines][1:] == ["This one was late."]
