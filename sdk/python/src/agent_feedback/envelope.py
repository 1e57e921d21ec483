"""The `_agentFeedback` envelope, from the protocol's own texts and bounds."""

from datetime import datetime, timezone
from typing import Any

from agent_feedback import files

FIELD = "_agentFeedback"


def never_ask(endpoint: str, capability: str, expires_at: int) -> dict[str, Any]:
    """Return the envelope of the mode `never_ask`; `expires_at` is in seconds since 1970."""
    contract, texts = files.read("contract.json"), files.read("instructions.json")
    action = {"method": "POST", "authorization": f"Bearer {capability}", "contentType": contract["contentType"]}
    return {
        "v": contract["version"],
        "mode": "never_ask",
        "state": "feedback_ready",
        "requested": True,
        "consentRequired": False,
        "consentPolicy": "none",
        "reliability": contract["reliability"]["http"],
        "when": contract["when"]["feedback_ready"],
        "instruction": texts["feedback_ready"],
        "privacy": texts["privacy"],
        "expiresAt": datetime.fromtimestamp(expires_at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "submitOutcome": {
            "url": endpoint + contract["paths"]["outcomes"],
            **action,
            "bodySchema": contract["outcomeBody"],
        },
        "submit": {
            "url": endpoint + contract["paths"]["reports"],
            **action,
            "reportSchema": contract["reportSchema"],
        },
    }
