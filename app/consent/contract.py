"""What an agent is told it may do: the contract of the state `feedback_ready`."""

from datetime import UTC, datetime
from typing import Any

from app.core import protocol

_CONTRACT = protocol.read("contract.json")
_TEXTS = protocol.read("instructions.json")


def feedback_ready(feedback_url: str, token: str, expires_at: int) -> dict[str, Any]:
    """Return the `never_ask` envelope for a capability; `expires_at` is in seconds since 1970."""
    action = {"method": "POST", "authorization": f"Bearer {token}", "contentType": _CONTRACT["contentType"]}
    return {
        "v": _CONTRACT["version"],
        "mode": "never_ask",
        "state": "feedback_ready",
        "requested": True,
        "consentRequired": False,
        "consentPolicy": "none",
        "reliability": _CONTRACT["reliability"]["http"],
        "when": _CONTRACT["when"]["feedback_ready"],
        "instruction": _TEXTS["feedback_ready"],
        "privacy": _TEXTS["privacy"],
        "expiresAt": datetime.fromtimestamp(expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "submitOutcome": {
            "url": feedback_url + _CONTRACT["paths"]["outcomes"],
            **action,
            "bodySchema": _CONTRACT["outcomeBody"],
        },
        "submit": {
            "url": feedback_url + _CONTRACT["paths"]["reports"],
            **action,
            "reportSchema": _CONTRACT["reportSchema"],
        },
    }
