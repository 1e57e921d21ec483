"""The protocol's own data, and what the suite computes from it without any SDK."""

import base64
import hashlib
import hmac
import json
import re
import secrets
import time
import uuid
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

FOLDER = Path(__file__).resolve().parents[1] / "protocol"

CONTRACT: dict[str, Any] = json.loads((FOLDER / "contract.json").read_text())
INSTRUCTIONS: dict[str, Any] = json.loads((FOLDER / "instructions.json").read_text())
PATHS: dict[str, str] = CONTRACT["paths"]

KEY = (
    "af_live_00112233445566778899aabbccddeeff_ffeeddccbbaa99887766554433221100_"
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ"
)
SCOPE = "ffeeddccbbaa99887766554433221100"
COMPANY_KEY = "af_company_0123456789abcdef0123456789abcdef_conformance_company_secret_000000000000000001"

ENVELOPE = CONTRACT["members"]["envelope"]
TIME_ORDERED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def vectors(subject: str) -> list[dict[str, Any]]:
    """Return the cases of a subject."""
    index = json.loads((FOLDER / "vectors" / "index.json").read_text())
    file = next(entry["file"] for entry in index["files"] if entry["subject"] == subject)
    cases: list[dict[str, Any]] = json.loads((FOLDER / "vectors" / file).read_text())["cases"]
    return cases


@cache
def _validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(json.loads((FOLDER / "schemas" / f"{name}.json").read_text()))


def validate(name: str, content: Any) -> None:
    """Fail if a body breaks the schema of this name."""
    _validator(name).validate(content)


def b64u(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_b64u(text: str) -> bytes:
    """Return what base64url without padding stands for."""
    assert "=" not in text
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def subject_of(customer_ref: str, scope: str = SCOPE) -> str:
    """Return the consent subject of a customer."""
    labels = CONTRACT["subject"]
    key = hashlib.sha256((labels["scopeLabel"] + scope).encode()).digest()
    mac = hmac.new(key, (labels["referenceLabel"] + customer_ref).encode(), "sha256").digest()
    return str(labels["prefix"]) + b64u(mac)


def read_claims(token: str, api_key: str = KEY) -> dict[str, Any]:
    """Return the claims of a capability after checking its signature, form and order of claims."""
    rules = CONTRACT["capability"]
    head, payload, signature = token.split(".")
    assert head == rules["prefix"] + api_key.split("_")[2]
    secret = hashlib.sha256(api_key.encode()).digest()
    assert signature == b64u(hmac.new(secret, f"{head}.{payload}".encode(), "sha256").digest())
    text = from_b64u(payload).decode()
    claims: dict[str, Any] = json.loads(text)
    assert text == json.dumps(claims, separators=(",", ":")), "the payload is compact JSON"
    assert list(claims) == [name for name in rules["claims"] if name in claims], "claims have an order"
    assert claims["v"] == rules["version"]
    assert claims["exp"] - claims["iat"] == rules["lifetimeS"]
    assert len(from_b64u(claims["n"])) == rules["nonceBytes"]
    assert TIME_ORDERED.fullmatch(claims["i"])
    return claims


def mint(api_key: str = KEY) -> str:
    """Return a capability as a product makes one."""
    now = int(time.time())
    claims = {"v": 1, "i": str(uuid.uuid4()), "iat": now, "exp": now + 7200, "n": b64u(secrets.token_bytes(18))}
    head = f"afr2_{api_key.split('_')[2]}"
    message = f"{head}.{b64u(json.dumps(claims, separators=(',', ':')).encode())}"
    mac = hmac.new(hashlib.sha256(api_key.encode()).digest(), message.encode(), "sha256").digest()
    return f"{message}.{b64u(mac)}"


def signed_interaction_id(route: str, company_key: str = COMPANY_KEY, head: bytes = bytes(10)) -> str:
    """Return an interaction id that a company's process accepts as the retry of a route."""
    labels = CONTRACT["contextInteraction"]
    head = head[:6] + bytes([head[6] & 0x0F | 0x40, head[7], head[8] & 0x3F | 0x80, head[9]])
    key = hashlib.sha256((labels["keyLabel"] + company_key).encode()).digest()
    raw = (head + hmac.new(key, head + route.encode(), "sha256").digest()[: labels["signatureBytes"]]).hex()
    return "-".join((raw[:8], raw[8:12], raw[12:16], raw[16:20], raw[20:]))
