"""The playground of a development copy: the company's part of the loop, played with the demo key."""

import http.client
import json
import os
import time
import uuid
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from app.consent.contract import feedback_ready
from app.core.errors import NotFound
from app.products.keys import signing_secret
from app.tokens import capability
from config.settings import Settings

CREDENTIALS = "credentials.json"
OPERATION = "/orders/:id"
TIMEOUT_S = 5
SHOWN_CHARACTERS = 14
"""Enough of a key to recognise it on a screen that others may see."""

Exchange = dict[str, Any]


class NoPlayground(NotFound):
    """There is no demo workspace here."""

    sentence = "The playground needs a development copy that was started by bin/dev."


def has_playground(settings: Settings) -> bool:
    """Tell whether this is a development copy with a demo workspace."""
    return settings.is_development and (settings.data_dir / CREDENTIALS).is_file()


class Playground:
    """Plays the demo company."""

    def __init__(self, settings: Settings) -> None:
        if not has_playground(settings):
            raise NoPlayground
        self._url = settings.feedback_url
        self._credentials: dict[str, str] = json.loads((settings.data_dir / CREDENTIALS).read_text())

    @property
    def environment_id(self) -> uuid.UUID:
        """The demo environment."""
        return uuid.UUID(self._credentials["environmentId"])

    def answer(self) -> Exchange:
        """Answer as the demo product does: the order, and the envelope that its SDK would append."""
        issued_at, interaction_id = int(time.time()), str(uuid.uuid4())
        key = self._credentials["productKey"]
        claims: dict[str, Any] = {
            "v": capability.VERSION,
            "i": interaction_id,
            "iat": issued_at,
            "exp": issued_at + capability.LIFETIME_S,
            "n": capability.encode(os.urandom(18)),
        }
        token = capability.sign(key.split("_")[2], signing_secret(key), claims)
        envelope = feedback_ready(self._url, token, issued_at + capability.LIFETIME_S)
        return {
            "interactionId": interaction_id,
            "request": "GET /orders/42",
            "status": 200,
            "answer": {"id": 42, "state": "shipped", "items": 3, "_agentFeedback": envelope},
        }

    def tell(self, interaction_id: uuid.UUID) -> Exchange:
        """Send the interaction's telemetry, over HTTP as every backend does."""
        event = {
            "interactionId": str(interaction_id),
            "surface": "http_json",
            "operation": OPERATION,
            "classification": "unclassified",
            "occurredAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "statusCode": 200,
            "durationMs": 12.5,
            "sessionRef": "playground",
            "sessionSource": "customer",
        }
        path, key = "/api/v2/telemetry/batches", self._credentials["productKey"]
        status, answer = self._post(path, key, {"events": [event]})
        return {
            "request": f"POST {path}",
            "authorization": f"Bearer {key[:SHOWN_CHARACTERS]}…",
            "body": {"events": [event]},
            "status": status,
            "answer": answer,
        }

    def _post(self, path: str, token: str, body: Exchange) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(urlsplit(self._url).netloc, timeout=TIMEOUT_S)
        try:
            connection.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()
