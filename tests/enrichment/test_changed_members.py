"""A changed retry is told which of its members differ, and never their values."""

from typing import Any

import pytest

from app.enrichment.fingerprint import DIGEST_BYTES, differing_positions, digest_members, digest_members_under
from tests.context_api import PERSONALIZATION, ContextApi, item

INTERACTION = "018f1f2e-7b4a-4c12-9c8d-123456789abc"


def pointers(response: Any) -> list[str]:
    assert response.status_code == 409, response.data
    return [problem["pointer"] for problem in response.json["errors"]]


def test_equal_members_have_equal_digests_under_one_key_alone() -> None:
    members = ["a", None, True, ["b"]]
    digests = digest_members(b"key", members)
    assert len(digests) == len(members) * DIGEST_BYTES
    assert digest_members(b"key", members) == digests != digest_members(b"other", members)


def test_the_same_value_in_two_places_has_two_digests() -> None:
    digests = digest_members(b"key", ["a", "a"])
    assert digests[:DIGEST_BYTES] != digests[DIGEST_BYTES:]


@pytest.mark.parametrize(
    ("members", "positions"), [(["a", "b"], []), (["a", "c"], [1]), (["a"], [1]), (["a", "b", None], [2])]
)
def test_the_positions_that_differ_are_named(members: list[Any], positions: list[int]) -> None:
    stored_digests = digest_members(b"key", ["a", "b"])
    assert differing_positions(stored_digests, [digest_members(b"key", members)]) == positions
    # Whichever key the stored digests are under.
    under_each = digest_members_under([b"newer", b"key", b"older"], members)
    assert differing_positions(stored_digests, under_each) == positions


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"operation": "/other"}, "/operation"),
        ({"surface": "mcp"}, "/surface"),
        ({"purpose": "targeted_advertising"}, "/purpose"),
        ({"remember": False}, "/remember"),
        ({"userRef": "u2"}, "/userRef"),
        ({"accountRef": "a1"}, "/accountRef"),
        ({"anonymousRef": "n1"}, "/anonymousRef"),
        ({"sessionRef": "s2"}, "/sessionRef"),
        ({"fieldKeys": None}, "/fieldKeys"),
    ],
)
def test_a_changed_request_names_the_member_that_differs(
    context_api: ContextApi, change: dict[str, Any], pointer: str
) -> None:
    details = {"interactionId": INTERACTION, "userRef": "u1", "sessionRef": "s1", "fieldKeys": ["content.format"]}
    context_api.ask(**details)
    changed = context_api.ask(**{**details, **change})
    assert (changed.json["code"], pointers(changed)) == ("request_changed", [pointer])


def test_a_changed_request_names_every_member_that_differs(context_api: ContextApi) -> None:
    context_api.ask(interactionId=INTERACTION, userRef="u1")
    changed = context_api.ask(interactionId=INTERACTION, userRef="user-reference-2", operation="/other")
    assert pointers(changed) == ["/operation", "/userRef"]
    assert b"user-reference-2" not in changed.data


@pytest.mark.parametrize(
    ("items", "status", "differing"),
    [
        ([item(value="business")], "answered", ["/items/0"]),
        ([item(), item("content.format", "audio")], "answered", ["/items/1"]),
        ([], "no_relevant_context", ["/status", "/items/0"]),
    ],
)
def test_a_changed_answer_names_what_differs(
    context_api: ContextApi, items: Any, status: str, differing: list[str]
) -> None:
    request = context_api.ask(userRef="u1").json
    context_api.answer(request, item())
    changed = context_api.answer(request, *items, status=status)
    assert (changed.json["code"], pointers(changed)) == ("answer_changed", differing)


def test_an_unknown_field_key_is_told_what_fits(context_api: ContextApi) -> None:
    context_api.put_field("trip.pace")
    context_api.put_field("trip.goal", operations=["/elsewhere"])
    response = context_api.ask(fieldKeys=["trip.unknown"], purpose=PERSONALIZATION)
    (problem,) = response.json["errors"]
    assert (problem["code"], problem["allowed"]) == ("unknown_field_key", ["trip.pace"])
