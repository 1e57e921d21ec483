"""Build the two discovery documents, security.txt and llms.txt."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from app.core import protocol

_CONTRACT = protocol.read("contract.json")

_PRIVACY = (
    "Never submit prompts, transcripts, secrets, credentials, personal data, customer content or raw tool payloads."
)

PROTOCOL_VERSION = 1


def current(service_name: str, feedback_url: str, downloads: dict[str, str]) -> dict[str, Any]:
    """Return the document of protocol version 1; `downloads` maps a language to its path."""
    paths = _CONTRACT["paths"]
    note = _CONTRACT["outcomeBody"]["note"]
    return {
        "name": service_name,
        "version": PROTOCOL_VERSION,
        "purpose": "Tells a company whether its product worked for the independent AI agents that used it.",
        "telemetry": {
            "url": feedback_url + paths["telemetry"],
            "authentication": "Authorization: Bearer af_live_<product key>; company backends only",
            "delivery": "best effort in the background; never delays or fails a product response",
        },
        "outcomeSubmission": {
            "url": feedback_url + paths["outcomes"],
            "authentication": "Authorization: Bearer afr2_<capability of the interaction>",
            "requiredFields": {
                "outcome": _CONTRACT["outcomeBody"]["outcome"],
                "note": f"One factual sentence of {note['minLength']} to {note['maxLength']} characters. " + _PRIVACY,
            },
        },
        "feedbackSubmission": _feedback_submission(feedback_url),
        "classification": {
            "http": "unclassified until an agent's review arrives, then confirmed",
            "mcp": "confirmed at once",
        },
        "integrations": {language: feedback_url + path for language, path in downloads.items()},
        "reliability": {
            "http": "best effort for generic agents, deterministic with a feedback-aware runtime",
            "mcp": "backed by the registered tool report_product_outcome",
        },
        "identity": "Agent identity is neither required nor claimed; references are optional, opaque and unverified.",
        "privacy": _PRIVACY,
    }


def _feedback_submission(feedback_url: str) -> dict[str, Any]:
    paths = _CONTRACT["paths"]
    return {
        "url": feedback_url + paths["reports"],
        "authentication": "Authorization: Bearer afr2_<capability of the interaction>",
        "capabilityInspectionUrl": feedback_url + paths["introspect"],
        "consentDecisionUrl": feedback_url + paths["decisions"],
        "consentStateUrl": feedback_url + paths["consentState"],
        "requiredFields": _CONTRACT["reportSchema"]["required"],
        "optionalFields": _CONTRACT["reportSchema"]["optional"],
        "reportSchema": _CONTRACT["reportSchema"],
    }


SECURITY_PATH = "/.well-known/security.txt"

SECURITY_LIFETIME = timedelta(days=180)
"""How long a copy of security.txt may be believed; RFC 9116 recommends less than a year."""


def security(contact: str, policy: str | None, feedback_url: str, now: datetime) -> str:
    """Return security.txt (RFC 9116). It never goes stale: `Expires` is counted from the day it is read on."""
    expires_at = datetime.combine(now.astimezone(UTC) + SECURITY_LIFETIME, time(), UTC)
    fields = {
        "Contact": contact,
        "Expires": expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "Preferred-Languages": "en",
        "Canonical": feedback_url + SECURITY_PATH,
        "Policy": policy,
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def llms(service_name: str, feedback_url: str, app_url: str, downloads: dict[str, str]) -> str:
    """Return llms.txt (llmstxt.org): what the service is, for agents, with links to the rest."""
    values = {
        "service": service_name,
        "base": feedback_url,
        "app": app_url,
        "privacy": _PRIVACY,
        "protocol": feedback_url + downloads["protocol"],
        "python": feedback_url + downloads["python"],
    }
    return protocol.read_text("llms.txt").format_map(values)


def deprecated(service_name: str, feedback_url: str) -> dict[str, Any]:
    """Return the document of the deprecated, unversioned address."""
    return {
        "name": service_name,
        "version": PROTOCOL_VERSION,
        "deprecated": True,
        "writesEnabled": False,
        "replacement": feedback_url + _CONTRACT["paths"]["discovery"],
    }
