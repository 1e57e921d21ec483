"""The capability token: every vector passes, and there is one spelling of each token."""

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from app.core import protocol
from app.tokens import capability
from app.tokens.capability import BadCapability

VECTORS = [{**case["input"], "token": case["expected"]} for case in protocol.read("vectors/capability.json")["cases"]]
NOW = 1715000001
KEY = VECTORS[0]["apiKey"]
KEY_ID = "0123456789abcdef0123456789abcdef"
SECRET = hashlib.sha256(KEY.encode()).digest()
CLAIMS: dict[str, Any] = VECTORS[0]["claims"]
SUBJECT = "afsub1_" + "A" * 43


def b64u(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def token(payload: bytes | str, key_id: str = KEY_ID) -> str:
    """Sign any payload, right or wrong."""
    text = payload if isinstance(payload, str) else b64u(payload)
    signed_part = f"afr2_{key_id}.{text}"
    return f"{signed_part}.{b64u(hmac.digest(SECRET, signed_part.encode(), 'sha256'))}"


def compact(claims: dict[str, Any]) -> bytes:
    return json.dumps(claims, separators=(",", ":")).encode()


def verify(text: str, now: float = NOW) -> capability.Capability:
    return capability.verify(capability.read(text), SECRET, now)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["token"][-8:])
def test_a_vector_is_signed_and_verified(vector: dict[str, Any]) -> None:
    key_id = vector["apiKey"].split("_")[2]
    secret = hashlib.sha256(vector["apiKey"].encode()).digest()
    text = capability.sign(key_id, secret, vector["claims"])
    assert text == vector["token"]
    verified_capability = capability.verify(capability.read(text), secret, NOW)
    assert (str(verified_capability.interaction_id), verified_capability.key_id) == (vector["claims"]["i"], key_id)
    assert (verified_capability.subject, verified_capability.revision) == (
        vector["claims"].get("s"),
        vector["claims"].get("r"),
    )


def test_the_signature_is_made_with_the_digest_of_the_key_and_not_with_the_key() -> None:
    vector = VECTORS[2]
    raw = vector["apiKey"].encode()
    text = capability.sign(vector["apiKey"].split("_")[2], raw, vector["claims"])
    with pytest.raises(BadCapability, match="signature"):
        capability.verify(capability.read(text), hashlib.sha256(raw).digest(), NOW)


@pytest.mark.parametrize(
    "changes",
    [
        {"v": 2},
        {"v": "1"},
        {"v": True},
        {"v": 1.0},
        {"i": "not-a-uuid"},
        {"i": CLAIMS["i"].replace("-", "")},
        {"iat": "1715000000"},
        {"iat": 1715000000.5},
        {"exp": CLAIMS["iat"]},
        {"exp": CLAIMS["iat"] + 7201},
        {"exp": CLAIMS["iat"] - 1},
        {"n": "x" * 15},
        {"n": "x" * 129},
        {"n": "é" * 16},
        {"n": 1},
        {"s": "afsub1_short"},
        {"s": SUBJECT + "A"},
        {"s": None},
        {"r": 0},
        {"s": SUBJECT, "r": -1},
        {"s": SUBJECT, "r": 1.5},
        {"s": SUBJECT, "r": True},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_claim_that_breaks_its_rule_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadCapability):
        verify(token(compact({**CLAIMS, **changes})))


@pytest.mark.parametrize("claim_name", CLAIMS)
def test_a_missing_claim_is_refused(claim_name: str) -> None:
    with pytest.raises(BadCapability):
        verify(token(compact({name: value for name, value in CLAIMS.items() if name != claim_name})))


@pytest.mark.parametrize(
    "payload",
    [
        compact(CLAIMS).replace(b'{"v":1,', b'{"v":1,"v":1,'),
        compact(CLAIMS)[:-1] + b',"n":"AQIDBAUGBwgJCgsMDQ4PEBES"}',
        b"[]",
        b"{}",
        b"not json",
        b"",
        b"\xff",
        b"[" * 500,
    ],
)
def test_a_payload_that_is_no_object_of_single_claims_is_refused(payload: bytes) -> None:
    with pytest.raises(BadCapability):
        verify(token(payload))


def test_white_space_in_the_payload_is_no_reason_to_refuse() -> None:
    assert verify(token(json.dumps(CLAIMS).encode())).issued_at == CLAIMS["iat"]


@pytest.mark.parametrize(
    ("now", "is_valid"),
    [
        (CLAIMS["iat"], True),
        (CLAIMS["exp"] - 1, True),
        (CLAIMS["exp"], False),
        (CLAIMS["exp"] + 1, False),
        (CLAIMS["iat"] - 300, True),
        (CLAIMS["iat"] - 301, False),
    ],
)
def test_a_token_is_valid_from_five_minutes_before_its_issue_until_its_expiry(now: int, is_valid: bool) -> None:
    if is_valid:
        verify(token(compact(CLAIMS)), now)
    else:
        with pytest.raises(BadCapability, match="time"):
            verify(token(compact(CLAIMS)), now)


def loose_bits(text: str) -> str:
    """Set a trailing bit that decoding ignores."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return text[:-1] + alphabet[alphabet.index(text[-1]) ^ 1]


def test_trailing_bits_that_a_decoder_would_ignore_are_refused() -> None:
    payload = b64u(compact({**CLAIMS, "n": CLAIMS["n"] + "x"}))
    assert len(payload) % 4
    with pytest.raises(BadCapability, match="base64"):
        verify(token(loose_bits(payload)))
    valid_token = token(compact(CLAIMS))
    with pytest.raises(BadCapability, match="signature"):
        verify(loose_bits(valid_token))


@pytest.mark.parametrize(
    "respell",
    [
        lambda valid_token: valid_token + "=",
        lambda valid_token: valid_token + "\n",
        lambda valid_token: " " + valid_token,
        lambda valid_token: valid_token.replace("afr2_", "aqr1_"),
        lambda valid_token: valid_token.replace("afr2_", "afr1_"),
        lambda valid_token: valid_token.replace(KEY_ID, KEY_ID.upper()),
        lambda valid_token: valid_token.replace(".", "..", 1),
        lambda valid_token: valid_token + ".x",
        lambda valid_token: valid_token.replace(".", "=.", 1),
        lambda valid_token: valid_token.rsplit(".", 1)[0],
        lambda valid_token: valid_token.rsplit(".", 1)[0] + ".",
        lambda valid_token: valid_token.replace("e", "+", 1) if "+" not in valid_token else valid_token + "+",
        lambda valid_token: "afr2_" + KEY_ID + "." + "A" * 2000 + "." + "A" * 43,
        lambda valid_token: "",
    ],
)
def test_any_other_spelling_is_refused(respell: Any) -> None:
    with pytest.raises(BadCapability):
        verify(respell(token(compact(CLAIMS))))


def test_every_single_changed_character_is_refused() -> None:
    valid_token = token(compact(CLAIMS))
    for position, character in enumerate(valid_token):
        changed_token = valid_token[:position] + ("A" if character != "A" else "B") + valid_token[position + 1 :]
        with pytest.raises(BadCapability):
            verify(changed_token)
