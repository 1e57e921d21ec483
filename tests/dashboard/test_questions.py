"""The page of questions: the catalog as an agent sees it, with its counts."""

import pytest
from flask.testing import FlaskClient

from tests.context_api import ADVERTISING, PERSONALIZATION, ContextApi, item
from tests.dashboard.browser import fields, send
from tests.dashboard.question_pages import row, shown_json
from tests.factories import Company, sign_in


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def test_the_built_in_questions_are_shown_while_there_is_no_other(owner: FlaskClient) -> None:
    page = owner.get("/questions").text
    assert "No question of your own" in page
    assert "the 21 built-in questions" in page
    assert row(page, "travel.stay_style")[-3] == "active"


def test_the_page_shows_what_the_agent_gets(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.pace", targetedAdvertisingSafe=True)
    context_api.put_field("trip.mood", operations=["/mood"])
    for purpose, operation in ((PERSONALIZATION, "/search"), (PERSONALIZATION, "/mood"), (ADVERTISING, "/mood")):
        request = context_api.ask(purpose=purpose, operation=operation).json
        text = shown_json(owner.get("/questions", query_string={"purpose": purpose, "operation": operation}).text)
        assert text["bodySchema"] == request["submit"]["bodySchema"]
        assert text["catalog"] == request["constraints"]["catalog"]
        assert text["stageInstruction"] == request["stageInstruction"]
        assert text["answerInstruction"] == request["answerInstruction"]


def test_where_nothing_can_be_asked_the_page_says_what_the_agent_gets(
    owner: FlaskClient, context_api: ContextApi
) -> None:
    context_api.put_field("trip.pace")
    request = context_api.ask(purpose=ADVERTISING).json
    text = shown_json(owner.get("/questions", query_string={"purpose": ADVERTISING}).text)
    assert (request["submit"], text["stageInstruction"]) == (None, request["stageInstruction"])


@pytest.mark.parametrize(
    ("purpose", "operation", "reason"),
    [
        (PERSONALIZATION, "", "asked of their operations only"),
        (PERSONALIZATION, "/search", "No question is asked of this operation."),
        (PERSONALIZATION, "/mood", None),
        (ADVERTISING, "", "No question is asked for this purpose."),
    ],
)
def test_where_nothing_is_asked_the_page_says_why(
    owner: FlaskClient, context_api: ContextApi, purpose: str, operation: str, reason: str | None
) -> None:
    context_api.put_field("trip.mood", operations=["/mood"])
    page = owner.get("/questions", query_string={"purpose": purpose, "operation": operation}).text
    assert ("Without a question an agent is shown this alone" in page) == (reason is not None)
    assert reason is None or reason in page


def test_questions_have_their_counts(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.pace", targetedAdvertisingSafe=True)
    context_api.put_field("trip.mood")
    for _ in range(9):
        context_api.answer(context_api.ask().json, item("trip.pace", "slow"))
    context_api.ask()
    context_api.ask(purpose=ADVERTISING)
    page = owner.get("/questions").text
    assert row(page, "trip.pace")[4:7] == ["personalization 10 advertising 1", "11", "82 % 9 of 11"]
    assert row(page, "trip.mood")[4:7] == ["personalization 10", "10", "0 % 0 of 10"]
    assert "not in the catalog any more" not in page


def test_built_in_questions_that_were_asked_come_first_and_the_others_are_folded(
    owner: FlaskClient, context_api: ContextApi
) -> None:
    page = owner.get("/questions").text
    assert page.index("The 21 built-in questions") < page.index("<code>travel.stay_style</code>")
    context_api.ask(fieldKeys=["travel.stay_style"])
    page = owner.get("/questions").text
    folded = page.index("The 20 others, which were not asked in these days")
    assert page.index("<code>travel.stay_style</code>") < folded < page.index("<code>content.format</code>")


def test_below_ten_requests_no_share_is_shown(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.pace")
    for _ in range(9):
        context_api.answer(context_api.ask().json, item("trip.pace", "slow"))
    assert row(owner.get("/questions").text, "trip.pace")[5:7] == ["9", "9 of 9"]


def test_counts_of_a_removed_question_stay_on_the_page(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.put_field("trip.pace")
    context_api.ask()
    send(
        owner,
        "/questions/fields/trip.pace/remove",
        "/questions/fields/trip.pace/remove",
        version=fields(owner.get("/questions/fields/trip.pace/remove"))["version"],
    )
    page = owner.get("/questions").text
    assert "not in the catalog any more" in page
    assert row(page, "trip.pace")[:3] == ["trip.pace", "1", "0 of 1"]
