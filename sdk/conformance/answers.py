"""What a healthy service answers, in the shapes of `schemas/`."""

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from conformance.protocol import CONTRACT, INSTRUCTIONS, PATHS

if TYPE_CHECKING:
    from conformance.recorder import Recorded, Recorder

HANDLE = "aqr1_0123456789abcdef0123456789abcdef.AQIDBAUGBwgJCgsMDQ4PEBESAQIDBAUGBwgJCgsMDQ4"

CATALOG = [
    {
        "key": "shopping.priority",
        "label": "What matters most",
        "type": "preference",
        "allowedValues": ["price", "quality", "speed"],
        "targetedAdvertisingSafe": True,
    },
    {
        "key": "shopping.budget_band",
        "label": "The budget",
        "type": "constraint",
        "allowedValues": ["under_50", "50_150"],
        "targetedAdvertisingSafe": True,
    },
]


def healthy_answer(recorder: "Recorder", request: "Recorded") -> tuple[int, Any]:
    """Return status and body for a request to one of the service's paths."""
    path = request.target.split("?")[0]
    if path == PATHS["telemetry"]:
        # Counted rather than parsed, so that a recorder keeps up with a fast product.
        return 202, {"accepted": request.body.count(b'"interactionId"'), "dropped": 0}
    answer = _ANSWERS.get(path)
    if answer is None:
        return 404, {"error": "There is nothing at this address.", "code": "not_found", "requestId": "0"}
    return 200, answer(recorder, json.loads(request.body or b"null"))


def _decisions(recorder: "Recorder", request: dict[str, Any]) -> dict[str, Any]:
    return {"subjects": [_decision(recorder, subject) for subject in request["subjects"]]}


def _decision(recorder: "Recorder", subject: str) -> dict[str, Any]:
    state, revision = recorder.decisions.get(subject, ("unknown", 0))
    return {"subject": subject, "state": state, "revision": revision}


def introspection(state: str) -> dict[str, Any]:
    """Return the service's view of a capability."""
    asks = state == "consent_required"
    return {
        "state": state,
        "configuredMode": "ask_always" if asks else "never_ask",
        "consentPolicy": "always" if asks else "none",
        "productName": "A product",
        "canonicalQuestion": INSTRUCTIONS["questions"]["always"] if asks else None,
        "expiresAt": _in_an_hour(),
        "submit": None,
    }


def context_action(url: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to an enrichment request."""
    return {
        "requestId": str(uuid.uuid4()),
        "interactionId": request["interactionId"],
        "state": "answer_ready",
        "purpose": request["purpose"],
        "surface": request["surface"],
        "identityLevel": "ephemeral",
        "stageInstruction": "Please answer.",
        "answerInstruction": "See https://example.com for more.",
        "question": None,
        "expiresAt": _in_an_hour(),
        "constraints": _constraints(request["purpose"]),
        "consent": {**_action(url, "contextConsent"), "bodySchema": CONTRACT["decisionBody"]},
        "submit": {**_action(url, "answers"), "bodySchema": answer_schema()},
    }


def answer_schema() -> dict[str, Any]:
    """Return the bounds of an answer."""
    return {
        "status": ["answered", "no_relevant_context", "declined"],
        "items": {
            "maximum": 8,
            "required": ["key", "type", "value", "provenance"],
            "type": ["preference", "constraint"],
            "provenance": ["agent_reports_user_statement", "agent_reports_current_task", "agent_inference"],
            "catalogVersion": "v1",
            "catalog": CATALOG,
        },
        "catalog": CATALOG,
    }


def _constraints(purpose: str) -> dict[str, Any]:
    return {
        "handlerOwner": "service",
        "purpose": purpose,
        "catalog": {"version": "v1", "hash": "0" * 64},
        "allowedFields": [entry["key"] for entry in CATALOG],
        "retention": {
            "rememberAllowed": False,
            "rememberSelected": False,
            "rememberedMaxDays": 90,
            "unrememberedExpiresAt": _in_an_hour(),
        },
    }


def _action(url: str, path: str) -> dict[str, Any]:
    authorization = f"Bearer {HANDLE}"
    return {
        "url": url + PATHS[path],
        "method": "POST",
        "authorization": authorization,
        "contentType": "application/json",
    }


def _context(recorder: "Recorder", request: dict[str, Any]) -> dict[str, Any]:
    return {
        "retrievalId": str(uuid.uuid4()),
        "identityLevel": "verified",
        "contextVersion": "ctx1_AQIDBAUGBwgJCgsMDQ4PEBES",
        "interactionId": request.get("interactionId"),
        "items": list(recorder.items),
    }


def context_item(key: str, value: str) -> dict[str, Any]:
    """Return one signal."""
    return {
        "signalId": str(uuid.uuid4()),
        "key": key,
        "type": "preference",
        "value": value,
        "summary": f"{key} is {value}",
        "provenance": "agent_reports_user_statement",
        "confidence": 1,
        "allowedUses": ["product_personalization"],
        "remembered": False,
        "expiresAt": _in_an_hour(),
    }


def _in_an_hour() -> str:
    return (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _receipt(_recorder: "Recorder", request: dict[str, Any]) -> dict[str, Any]:
    return {"accepted": True, "received": request}


_ANSWERS: dict[str, Callable[["Recorder", Any], Any]] = {
    PATHS["consentState"]: _decisions,
    PATHS["enrichment"]: lambda recorder, request: context_action(recorder.url, request),
    PATHS["context"]: _context,
    PATHS["introspect"]: lambda _recorder, _request: introspection("feedback_ready"),
    **{PATHS[name]: _receipt for name in ("answers", "contextConsent", "outcomes", "reports", "decisions")},
}
