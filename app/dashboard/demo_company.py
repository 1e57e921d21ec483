"""The demo company of a development copy: what its product answers, and its calls to this service.

The calls are HTTP requests with the demo workspace's keys, as any company's backend makes them.
"""

import http.client
import json
import os
import shlex
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.consent.contract import feedback_ready
from app.core.errors import NotFound
from app.dashboard.shoes import rank_shoes
from app.interactions.ids import new_interaction_id
from app.products.keys import signing_secret
from app.tokens import capability
from config.settings import Settings

CREDENTIALS = "credentials.json"
TIMEOUT_S = 5
MAX_SHOWN_CHARACTERS = 14
"""Enough of a key to recognise it on a screen that others may see."""

PURPOSE = "product_personalization"
PRIORITY_FIELD = "shopping.priority"

Exchange = dict[str, Any]


class NoPlayground(NotFound):
    """There is no demo workspace here."""

    sentence = "The playground needs a development copy that was started by bin/dev."


def has_demo_company(settings: Settings) -> bool:
    """Tell whether this is a development copy with a demo workspace."""
    return settings.is_development and _credentials_path(settings).is_file()


class DemoCompany:
    """The demo workspace's company: its product and its backend."""

    def __init__(self, settings: Settings) -> None:
        if not has_demo_company(settings):
            raise NoPlayground
        self._url = settings.feedback_url
        self._path = _credentials_path(settings)
        self._credentials: dict[str, str] = json.loads(self._path.read_text())

    @property
    def environment_id(self) -> uuid.UUID:
        """The demo environment."""
        return uuid.UUID(self._credentials["environmentId"])

    def show_order(self) -> Exchange:
        """Answer `GET /orders/42` with the envelope that the SDK would append."""
        issued_at, interaction_id = int(time.time()), str(new_interaction_id())
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

    def send_telemetry(self, interaction_id: uuid.UUID) -> Exchange:
        """Send the telemetry of an order's interaction."""
        event = {
            "interactionId": str(interaction_id),
            "surface": "http_json",
            "operation": "/orders/:id",
            "classification": "unclassified",
            "occurredAt": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "statusCode": 200,
            "durationMs": 12.5,
            "sessionRef": "playground",
            "sessionSource": "customer",
        }
        return self._post("/api/v2/telemetry/batches", "productKey", {"events": [event]})

    def show_shoes(self) -> Exchange:
        """Answer `GET /shoes` in the shop's own order, with a request for what matters to the customer."""
        user_ref = f"playground-{uuid.uuid4().hex[:8]}"
        body = {
            "interactionId": str(new_interaction_id()),
            "operation": "/shoes",
            "surface": "http_json",
            "purpose": PURPOSE,
            "remember": True,
            "userRef": user_ref,
            "fieldKeys": [PRIORITY_FIELD],
        }
        call = self._post("/api/v2/enrichment/requests", "companyKey", body)
        answer = {"shoes": rank_shoes(None), "_service": {"customerContext": call["answer"]}}
        return {"userRef": user_ref, "request": "GET /shoes", "status": 200, "call": call, "answer": answer}

    def rank_shoes(self, user_ref: str) -> Exchange:
        """Answer `GET /shoes` ranked by the customer's context."""
        call = self._post("/api/v2/customer-context", "companyKey", {"purpose": PURPOSE, "userRef": user_ref})
        items = call["answer"].get("items", [])
        priority = next((item["value"] for item in items if item["key"] == PRIORITY_FIELD), None)
        answer = {"rankedBy": priority, "shoes": rank_shoes(priority)}
        return {"request": "GET /shoes", "status": 200, "call": call, "answer": answer}

    def _post(self, path: str, key_name: str, body: Exchange) -> Exchange:
        """Send a request, and return it with its response; of the key only the beginning."""
        key = self._credentials[key_name]
        connection = http.client.HTTPConnection(urlsplit(self._url).netloc, timeout=TIMEOUT_S)
        try:
            connection.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {key}"})
            response = connection.getresponse()
            status, answer = response.status, json.loads(response.read())
        finally:
            connection.close()
        return {
            "method": "POST",
            "url": self._url + path,
            "authorization": f"Bearer {key[:MAX_SHOWN_CHARACTERS]}…",
            "keyCommand": self._key_command(key_name),
            "body": body,
            "status": status,
            "answer": answer,
        }

    def _key_command(self, key_name: str) -> str:
        """Return the shell command that prints a key, so that a copied curl command does not hold it."""
        script = f"import json, sys; print(json.load(open(sys.argv[1]))[{key_name!r}])"
        return shlex.join(["python3", "-c", script, str(self._path)])


def _credentials_path(settings: Settings) -> Path:
    return settings.data_dir / CREDENTIALS
