"""The texts for agents: questions, and the contract of the state `feedback_ready`, from the protocol's own files."""

from datetime import UTC, datetime
from typing import Any

from app.core import protocol
from app.products.rules import Mode

_CONTRACT = protocol.read("contract.json")
_TEXTS = protocol.read("instructions.json")

QUESTIONS_VERSION = 1
"""Grows with every change of a question's words; a decision keeps the version that it answered."""


def question(name: str, service_name: str) -> str:
    """Return the exact question, `once` or `always`."""
    words: str = _TEXTS["questions"][name]
    return words.replace("{service}", service_name)


def instruction(state: str) -> str:
    """Return what an agent is told to do in a state: `feedback_ready` or `consent_required`."""
    text: str = _TEXTS[state]
    return text


def question_version(name: str) -> str:
    """Return the name and version of a question, as decisions store it."""
    return f"{name}/{QUESTIONS_VERSION}"


def feedback_ready(
    feedback_url: str, token: str, expires_at: int, configured_mode: Mode | None = None
) -> dict[str, Any]:
    """Return the contract by which feedback may be sent; `expires_at` is in seconds since 1970.

    Without a configured mode it is the envelope of an environment that asks nobody, with one the answer to an approval.
    """
    states: dict[str, Any] = _CONTRACT["states"]
    members = states["never_ask"]["members"]
    if configured_mode:
        members = {**states[_CONTRACT["approval"]["state"]]["members"], "configuredMode": configured_mode}
    return {
        "v": _CONTRACT["version"],
        **members,
        "reliability": _CONTRACT["reliability"]["http"],
        "instruction": _TEXTS[members["state"]],
        "privacy": _TEXTS["privacy"],
        "expiresAt": datetime.fromtimestamp(expires_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "submitOutcome": {
            **_action(feedback_url, "outcomes", token),
            "bodySchema": _CONTRACT["outcomeBody"],
        },
        "submit": submit_report(feedback_url, token),
    }


def submit_report(feedback_url: str, token: str) -> dict[str, Any]:
    """Return the action that sends a report."""
    return {**_action(feedback_url, "reports", token), "reportSchema": _CONTRACT["reportSchema"]}


def _action(feedback_url: str, path: str, token: str) -> dict[str, Any]:
    return {
        "url": feedback_url + _CONTRACT["paths"][path],
        "method": "POST",
        "authorization": f"Bearer {token}",
        "contentType": _CONTRACT["contentType"],
    }
