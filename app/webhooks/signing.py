"""Secrets of endpoints, and the headers by which a receiver verifies a webhook."""

import base64
import secrets
import uuid
from collections.abc import Sequence
from datetime import datetime

from app.core.seal import Seal
from app.core.settings import current_settings

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
MESSAGE_PREFIX = "msg_"


def create_secret() -> str:
    """Return a new secret as its receiver needs it: `whsec_` and 32 random bytes in base64."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def message_name(message_id: uuid.UUID) -> str:
    """Return the id of a message as its receivers see it, in `webhook-id`."""
    return f"{MESSAGE_PREFIX}{message_id.hex}"


def secret_seal() -> Seal:
    """Return what seals the secrets of endpoints."""
    return Seal([secret.reveal() for secret in current_settings().sealing_secrets])


def signed_headers(endpoint_secrets: Sequence[str], message_id: str, now: datetime, body: bytes) -> dict[str, str]:
    """Return the headers of a webhook, with a signature by each of the endpoint's secrets."""
    from standardwebhooks import Webhook  # noqa: PLC0415  # only a worker that sends needs it

    text = body.decode()
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(Webhook(secret).sign(message_id, now, text) for secret in endpoint_secrets),
    }
