"""Capabilities are minted as the service accepts them, and a key does not show itself."""

import hashlib
import time
import uuid

import pytest
from agent_feedback.capability import consent_subject, mint
from agent_feedback.keys import ProductKey

from app.tokens import capability as service
from tests.sdk.endpoint import KEY
from tests.sdk.vectors.cases import load


def verify(token: str, key: str, now: float) -> service.Capability:
    return service.verify(service.read(token), hashlib.sha256(key.encode()).digest(), now)


def test_a_key_signs_every_capability_as_it_signed_the_first() -> None:
    case = load("capability")["cases"][0]["input"]
    key = ProductKey(case["apiKey"])
    assert len({key.sign(case["claims"]) for _ in range(3)}) == 1


def test_a_subject_ignores_the_case_of_the_scope_and_white_space_around_the_reference() -> None:
    scope = "00112233445566778899aabbccddeeff"
    assert consent_subject(scope.upper(), " account_42\n") == consent_subject(scope, "account_42")


@pytest.mark.parametrize(
    ("subject", "revision"), [(None, None), ("afsub1_" + "a" * 43, None), ("afsub1_" + "a" * 43, 7)]
)
def test_the_service_accepts_what_is_minted_now(subject: str | None, revision: int | None) -> None:
    interaction_id, now = str(uuid.uuid4()), int(time.time())
    capability = verify(mint(ProductKey(KEY), interaction_id, now, subject=subject, revision=revision), KEY, now)
    assert str(capability.interaction_id) == interaction_id
    assert (capability.subject, capability.revision) == (subject, revision)
    assert capability.expires_at - capability.issued_at == 7200


def test_two_capabilities_of_one_interaction_differ() -> None:
    key = ProductKey(KEY)
    assert len({mint(key, "018f1f2e-7b4a-7c12-9c8d-123456789abc", 1715000000) for _ in range(100)}) == 100


def test_the_scope_is_the_first_part_of_the_secret_or_else_the_key_id() -> None:
    key = f"af_live_{'1' * 32}_{'2' * 32}_{'s' * 43}"
    assert ProductKey(key).scope == "2" * 32
    assert ProductKey(KEY).scope == "0123456789abcdef0123456789abcdef"


def test_a_key_does_not_show_itself() -> None:
    key = ProductKey(KEY)
    for text in (repr(key), str(key), f"{key}", repr([key])):
        assert "secret" not in text
        assert key.id in text
