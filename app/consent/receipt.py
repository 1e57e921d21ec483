"""A consent receipt, in the structure of ISO/IEC TS 27560: header, processing, parties, events."""

import uuid
from typing import Any

from sqlalchemy import select

from app.consent import contract
from app.consent.models import ConsentDecision
from app.core.database import session
from app.core.errors import NotFound
from app.products.service import get_environment, get_product

SCHEMA_VERSION = "ISO/IEC TS 27560:2023"
_EVENT_STATES = {"approved": "consent given", "declined": "consent refused"}


class NoSuchDecision(NotFound):
    """No decision is recorded for this interaction."""

    sentence = "There is no decision on record for this interaction in this environment."


def build_receipt(environment_id: uuid.UUID, interaction_id: uuid.UUID, service_name: str) -> dict[str, Any]:
    """Return the receipt of one decision; the person appears only under the opaque name that the SDK derived."""
    decision = session().get(ConsentDecision, (environment_id, interaction_id))
    if decision is None:
        raise NoSuchDecision
    product = get_product(get_environment(environment_id).product_id)
    name, _, version = decision.question.partition("/")
    return {
        "header": {
            "schemaVersion": SCHEMA_VERSION,
            "recordId": f"{environment_id}/{interaction_id}",
            "piiPrincipalId": decision.subject,
        },
        "piiProcessing": {
            "privacyNotice": contract.question(name, service_name),
            "privacyNoticeVersion": version,
            "language": "en",
            "purposes": [
                {
                    "purpose": "sending the product's provider a short report of how its product worked",
                    "lawfulBasis": "consent",
                    "piiCategories": [],
                    "scope": "this and future uses" if decision.subject else "this use",
                    "withdrawal": "the user asks their agent, which submits declined",
                }
            ],
        },
        "partyIdentification": [
            {"role": "PII controller", "name": product.name},
            {"role": "PII processor", "name": service_name},
        ],
        "events": [_event(entry) for entry in _history(decision)],
    }


def _history(decision: ConsentDecision) -> list[ConsentDecision]:
    """Return every decision of the same person, oldest first; of a single use only its own."""
    if decision.subject is None:
        return [decision]
    query = select(ConsentDecision).where(
        ConsentDecision.environment_id == decision.environment_id, ConsentDecision.subject == decision.subject
    )
    return list(session().scalars(query.order_by(ConsentDecision.revision).limit(1000)))


def _event(decision: ConsentDecision) -> dict[str, Any]:
    is_withdrawal = decision.decision == "declined" and (decision.revision or 0) > 1
    return {
        "eventTime": decision.decided_at,
        "eventState": "consent withdrawn" if is_withdrawal else _EVENT_STATES[decision.decision],
        "interactionId": decision.interaction_id,
        "revision": decision.revision,
        "keyId": decision.key_id,
    }
