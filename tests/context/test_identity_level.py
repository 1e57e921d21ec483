"""What an anonymous reference shows, before and after its visitor has signed in."""

from typing import Any

from sqlalchemy import update

from app.core.database import session, transaction
from app.enrichment.models import Signal
from tests.conversations import Talk, item

STYLE = {"travel.stay_style": "quiet_boutique"}


def answer(talk: Talk, key: str = "travel.stay_style", value: str = "quiet_boutique", **references: str) -> Any:
    request = talk.ask(**references).json
    assert talk.answer(request, item(key, value, remember=True)).status_code == 200
    return request


def test_a_visitor_is_known_right_after_signing_in(talk: Talk) -> None:
    answer(talk, anonymousRef="n1")
    context = talk.retrieve(userRef="u1", anonymousRef="n1").json
    assert context["identityLevel"] == "pseudonymous"
    assert {entry["key"]: entry["value"] for entry in context["items"]} == STYLE


def test_a_known_user_is_retrieved_without_the_visitor(talk: Talk) -> None:
    answer(talk, anonymousRef="n1")
    answer(talk, "content.format", "audio", userRef="u1")
    context = talk.retrieve(userRef="u1", anonymousRef="n1").json
    assert (context["identityLevel"], [entry["key"] for entry in context["items"]]) == ("verified", ["content.format"])


def test_a_user_of_several_accounts_is_not_taken_for_the_visitor(talk: Talk) -> None:
    answer(talk, anonymousRef="n1")
    talk.ask(userRef="u1", accountRef="a1")
    talk.ask(userRef="u1", accountRef="a2")
    assert talk.known(userRef="u1", anonymousRef="n1") == {}


def test_two_unknown_references_have_no_items(talk: Talk) -> None:
    context = talk.retrieve(userRef="u1", anonymousRef="n1").json
    assert (context["identityLevel"], context["items"]) == ("verified", [])


def test_an_anonymous_reference_shows_nothing_that_was_answered_after_signing_in(talk: Talk) -> None:
    answer(talk, anonymousRef="n1")
    answer(talk, "content.format", "audio", userRef="u1", anonymousRef="n1")
    answer(talk, "travel.room_priority", "quiet", userRef="u1")
    assert talk.known(anonymousRef="n1") == STYLE
    assert set(talk.known(userRef="u1")) == {"travel.stay_style", "content.format", "travel.room_priority"}


def test_an_unknown_user_beside_a_linked_visitor_sees_nothing_of_the_verified_customer(talk: Talk) -> None:
    answer(talk, userRef="u1", anonymousRef="n1")
    assert talk.known(userRef="u2", anonymousRef="n1") == {}


def test_an_interaction_adds_nothing_verified_to_an_anonymous_reference(talk: Talk) -> None:
    request = answer(talk, userRef="u1", anonymousRef="n1")
    assert talk.known(anonymousRef="n1", interactionId=request["interactionId"]) == {}
    assert talk.known(userRef="u1", interactionId=request["interactionId"]) == STYLE


def test_a_request_of_a_visitor_stays_anonymous_when_it_is_answered_after_signing_in(talk: Talk) -> None:
    request = talk.ask(anonymousRef="n1").json
    talk.ask(userRef="u1", anonymousRef="n1")
    talk.answer(request, item(remember=True))
    assert talk.known(anonymousRef="n1") == talk.known(userRef="u1") == STYLE


def test_a_signal_from_before_levels_were_stored_counts_as_verified(talk: Talk) -> None:
    answer(talk, userRef="u1", anonymousRef="n1")
    with transaction():
        session().execute(update(Signal).values(identity_level=None))
    assert talk.known(anonymousRef="n1") == {}
    assert talk.known(userRef="u1") == STYLE
