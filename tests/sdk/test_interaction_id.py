"""Interaction ids are UUIDs of version 4 that begin with the time in milliseconds."""

import time
import uuid

from agent_feedback.context.interaction import is_signed_interaction_id, signed_interaction_id
from agent_feedback.interaction_id import new_interaction_id
from agent_feedback.keys import CompanyKey

from tests.sdk.endpoint import COMPANY_KEY
from tests.sdk.site import Client, fetch, make_app


def milliseconds(interaction_id: str) -> int:
    return uuid.UUID(interaction_id).int >> 80


def test_an_id_begins_with_the_time_and_is_of_version_4() -> None:
    start_ms = time.time_ns() // 1_000_000
    interaction_id = new_interaction_id()
    end_ms = time.time_ns() // 1_000_000
    assert start_ms <= milliseconds(interaction_id) <= end_ms
    parsed_id = uuid.UUID(interaction_id)
    assert (parsed_id.version, parsed_id.variant, str(parsed_id)) == (4, uuid.RFC_4122, interaction_id)


def test_ids_of_one_moment_differ() -> None:
    assert len({new_interaction_id() for _ in range(10_000)}) == 10_000


def test_the_other_bits_are_random() -> None:
    # 74 bits: with 200 ids none of them stands still.
    ids = [uuid.UUID(new_interaction_id()).int for _ in range(200)]
    changing_bits = 0
    for interaction_id in ids:
        changing_bits |= interaction_id ^ ids[0]
    assert (changing_bits & (1 << 80) - 1).bit_count() == 74


def test_an_interaction_of_a_response_has_such_an_id() -> None:
    feedback = Client()
    fetch(feedback.wsgi(make_app()))
    assert abs(milliseconds(feedback.events[0]["interactionId"]) - time.time() * 1000) < 60_000


def test_a_signed_id_begins_with_the_time_too() -> None:
    key = CompanyKey(COMPANY_KEY)
    interaction_id = signed_interaction_id(key, "GET /shoes")
    assert abs(milliseconds(interaction_id) - time.time() * 1000) < 60_000
    assert uuid.UUID(interaction_id).version == 4
    assert is_signed_interaction_id(interaction_id, key, "GET /shoes")
