"""Capabilities are signed as the vectors say, and the service accepts them."""

import base64
import hashlib
import uuid

from agent_feedback.capability import mint
from agent_feedback.keys import ProductKey

from app.tokens import capability as service
from tests.sdk.vectors.cases import Case, read_cases


@read_cases("capability")
def test_a_capability_is_signed_as_the_vector_says(case: Case) -> None:
    assert ProductKey(case["input"]["apiKey"]).sign(case["input"]["claims"]) == case["expected"]


@read_cases("capability")
def test_a_capability_is_minted_as_the_vector_says(case: Case) -> None:
    claims = case["input"]["claims"]
    key, nonce = ProductKey(case["input"]["apiKey"]), base64.urlsafe_b64decode(claims["n"])
    token = mint(key, claims["i"], claims["iat"], subject=claims.get("s"), revision=claims.get("r"), nonce=nonce)
    assert token == case["expected"]


@read_cases("capability")
def test_the_service_accepts_the_capability_of_a_vector(case: Case) -> None:
    claims, key = case["input"]["claims"], case["input"]["apiKey"]
    secret = hashlib.sha256(key.encode()).digest()
    assert service.verify(service.read(case["expected"]), secret, claims["iat"] + 1) == service.Capability(
        key.split("_")[2], uuid.UUID(claims["i"]), claims["iat"], claims["exp"], claims.get("s"), claims.get("r")
    )
