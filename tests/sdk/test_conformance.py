"""The package signs and names exactly as the protocol's vectors say, and the service accepts what it signs."""

import hashlib
import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from agent_feedback.capability import consent_subject, mint
from agent_feedback.keys import ProductKey, base64url
from agent_feedback.operation import normalize_operation

from app.tokens import capability as service
from tests.sdk.endpoint import KEY

PROTOCOL = Path(__file__).resolve().parents[2] / "sdk" / "protocol"
VECTORS: dict[str, list[dict[str, Any]]] = json.loads((PROTOCOL / "conformance.json").read_text())

Vector = dict[str, Any]


def verify(token: str, key: str, now: float) -> service.Capability:
    return service.verify(service.read(token), hashlib.sha256(key.encode()).digest(), now)


@pytest.mark.parametrize("vector", VECTORS["capabilities"])
def test_a_capability_is_signed_as_the_vector_says(vector: Vector) -> None:
    prefix, payload, signature = ProductKey(vector["apiKey"]).sign(vector["claims"]).split(".")
    assert prefix == "afr2_" + vector["apiKey"].split("_")[2]
    assert payload == vector.get("payload", base64url(json.dumps(vector["claims"], separators=(",", ":")).encode()))
    assert signature == vector["signature"]


def test_a_key_signs_every_capability_as_it_signed_the_first() -> None:
    vector = VECTORS["capabilities"][0]
    key = ProductKey(vector["apiKey"])
    assert len({key.sign(vector["claims"]) for _ in range(3)}) == 1


@pytest.mark.parametrize("vector", VECTORS["capabilities"])
def test_the_service_accepts_the_capability_of_a_vector(vector: Vector) -> None:
    claims = vector["claims"]
    capability = verify(ProductKey(vector["apiKey"]).sign(claims), vector["apiKey"], 1715000001)
    assert capability == service.Capability(
        vector["apiKey"].split("_")[2],
        uuid.UUID(claims["i"]),
        claims["iat"],
        claims["exp"],
        claims.get("s"),
        claims.get("r"),
    )


@pytest.mark.parametrize("vector", VECTORS["subjects"])
def test_a_subject_is_named_as_the_vector_says(vector: Vector) -> None:
    assert consent_subject(vector["scope"], vector["customerRef"]) == vector["subject"]


@pytest.mark.parametrize("vector", VECTORS["subjects"])
def test_a_subject_ignores_the_case_of_the_scope_and_white_space_around_the_reference(vector: Vector) -> None:
    assert consent_subject(vector["scope"].upper(), f" {vector['customerRef']}\n") == vector["subject"]


@pytest.mark.parametrize("vector", VECTORS["operations"])
def test_an_operation_is_named_as_the_vector_says(vector: Vector) -> None:
    assert normalize_operation(vector["path"]) == vector["operation"]


@pytest.mark.parametrize("path", ["/a b@c", "/é/ü", "/%zz", "/x" * 200, "", "/tab\there", "/#x", "/\N{SNOWMAN}"])
def test_an_operation_holds_nothing_that_the_service_refuses(path: str) -> None:
    operation = normalize_operation(path)
    assert 1 <= len(operation) <= 160
    assert operation.isascii()
    assert operation.isprintable()
    assert not set(operation) & set(" ?#@")


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
