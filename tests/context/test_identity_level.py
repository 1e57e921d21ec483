"""The context that an anonymous reference gives access to, before and after its visitor has signed in."""

from typing import Any

from sqlalchemy import update

from app.core.database import session, transaction
from app.enrichment.models import Signal
from tests.context_api import ContextApi, item

STYLE = {"travel.stay_style": "quiet_boutique"}


def answer(
    context_api: ContextApi, key: str = "travel.stay_style", value: str = "quiet_boutique", **references: str
) -> Any:
    request = context_api.ask(**references).json
    assert context_api.answer(request, item(key, value, remember=True)).status_code == 200
    return request


def test_a_visitor_is_known_right_after_signing_in(context_api: ContextApi) -> None:
    answer(context_api, anonymousRef="n1")
    context = context_api.retrieve(userRef="u1", anonymousRef="n1").json
    assert context["identityLevel"] == "pseudonymous"
    assert {entry["key"]: entry["value"] for entry in context["items"]} == STYLE


def test_a_known_user_is_retrieved_without_the_visitor(context_api: ContextApi) -> None:
    answer(context_api, anonymousRef="n1")
    answer(context_api, "content.format", "audio", userRef="u1")
    context = context_api.retrieve(userRef="u1", anonymousRef="n1").json
    assert (context["identityLevel"], [entry["key"] for entry in context["items"]]) == ("verified", ["content.format"])


def test_a_user_of_several_accounts_is_not_taken_for_the_visitor(context_api: ContextApi) -> None:
    answer(context_api, anonymousRef="n1")
    context_api.ask(userRef="u1", accountRef="a1")
    context_api.ask(userRef="u1", accountRef="a2")
    assert context_api.context_values(userRef="u1", anonymousRef="n1") == {}


def test_two_unknown_references_have_no_items(context_api: ContextApi) -> None:
    context = context_api.retrieve(userRef="u1", anonymousRef="n1").json
    assert (context["identityLevel"], context["items"]) == ("verified", [])


def test_an_anonymous_reference_shows_nothing_that_was_answered_after_signing_in(context_api: ContextApi) -> None:
    answer(context_api, anonymousRef="n1")
    answer(context_api, "content.format", "audio", userRef="u1", anonymousRef="n1")
    answer(context_api, "travel.room_priority", "quiet", userRef="u1")
    assert context_api.context_values(anonymousRef="n1") == STYLE
    assert set(context_api.context_values(userRef="u1")) == {
        "travel.stay_style",
        "content.format",
        "travel.room_priority",
    }


def test_an_unknown_user_beside_a_linked_visitor_sees_nothing_of_the_verified_customer(context_api: ContextApi) -> None:
    answer(context_api, userRef="u1", anonymousRef="n1")
    assert context_api.context_values(userRef="u2", anonymousRef="n1") == {}


def test_an_interaction_adds_nothing_verified_to_an_anonymous_reference(context_api: ContextApi) -> None:
    request = answer(context_api, userRef="u1", anonymousRef="n1")
    assert context_api.context_values(anonymousRef="n1", interactionId=request["interactionId"]) == {}
    assert context_api.context_values(userRef="u1", interactionId=request["interactionId"]) == STYLE


def test_a_request_of_a_visitor_stays_anonymous_when_it_is_answered_after_signing_in(context_api: ContextApi) -> None:
    request = context_api.ask(anonymousRef="n1").json
    context_api.ask(userRef="u1", anonymousRef="n1")
    context_api.answer(request, item(remember=True))
    assert context_api.context_values(anonymousRef="n1") == context_api.context_values(userRef="u1") == STYLE


def test_a_signal_from_before_levels_were_stored_counts_as_verified(context_api: ContextApi) -> None:
    answer(context_api, userRef="u1", anonymousRef="n1")
    with transaction():
        session().execute(update(Signal).values(identity_level=None))
    assert context_api.context_values(anonymousRef="n1") == {}
    assert context_api.context_values(userRef="u1") == STYLE
