"""Ids of the playground begin with the time, as those of the SDKs."""

import time
import uuid

from app.interactions.ids import new_interaction_id


def test_an_id_begins_with_the_time_and_is_of_version_4() -> None:
    start_ms = time.time_ns() // 1_000_000
    ids = [new_interaction_id() for _ in range(200)]
    end_ms = time.time_ns() // 1_000_000
    assert all(start_ms <= interaction_id.int >> 80 <= end_ms for interaction_id in ids)
    assert {(interaction_id.version, interaction_id.variant) for interaction_id in ids} == {(4, uuid.RFC_4122)}
    changing_bits = 0
    for interaction_id in ids:
        changing_bits |= interaction_id.int ^ ids[0].int
    assert (changing_bits & (1 << 80) - 1).bit_count() == 74
