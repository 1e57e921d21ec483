"""Capabilities, which let an agent send feedback on one interaction, and the subjects of consent."""

import hashlib
import hmac
import json
import os

from agent_feedback import protocol_files
from agent_feedback.keys import ProductKey, base64url

_BOUNDS: dict[str, int] = protocol_files.read("contract.json")["capability"]

LIFETIME_S = _BOUNDS["lifetimeS"]
NONCE_BYTES = _BOUNDS["nonceBytes"]


def mint(
    key: ProductKey,
    interaction_id: str,
    issued_at: int,
    *,
    subject: str | None = None,
    revision: int | None = None,
    nonce: bytes | None = None,
) -> str:
    """Return the capability of one interaction; `issued_at` is in seconds since 1970."""
    # Every response has them, and an encoder would take five times as long. Their order is part of the format.
    claims = (
        f'{{"v":1,"i":{json.dumps(interaction_id)},"iat":{issued_at},"exp":{issued_at + LIFETIME_S}'
        f',"n":"{base64url(nonce or os.urandom(NONCE_BYTES))}"'
    )
    if subject is not None:
        claims += f',"s":{json.dumps(subject)}'
        if revision is not None:
            claims += f',"r":{revision}'
    return key.sign_json(claims + "}")


def consent_subject(scope: str, customer_ref: str) -> str:
    """Return the opaque id under which the service stores a customer's consent decision."""
    secret = hashlib.sha256(f"service-consent-scope:{scope.lower()}".encode()).digest()
    digest = hmac.new(secret, f"customer-ref:{customer_ref.strip()}".encode(), hashlib.sha256).digest()
    return f"afsub1_{base64url(digest)}"
