"""Remove signals and the answers of open requests after a refusal."""

import uuid

from sqlalchemy import text

from app.core import clock
from app.core.database import session
from app.customers import service as customers
from app.customers.service import Identity
from app.enrichment.models import EnrichmentRequest

_FORGET = text(
    "DELETE FROM signals WHERE product_id = :product_id AND customer_id = :customer_id AND purpose = :purpose"
)

# An answer that was itself the no stays, so that its retry gets the same receipt.
_DECLINED = """
    UPDATE enrichment_requests SET state = 'declined',
        answer_fingerprint = CASE WHEN answered_as = 'declined' THEN answer_fingerprint END,
        receipt = CASE WHEN answered_as = 'declined' THEN receipt END,
        answered_as = CASE WHEN answered_as = 'declined' THEN answered_as END
"""

_CLOSE = text(f"""{_DECLINED}
    WHERE product_id = :product_id AND customer_id = :customer_id AND purpose = :purpose AND expires_at > :now
""")

_CLOSE_ONE = text(f"{_DECLINED} WHERE environment_id = :environment_id AND interaction_id = :interaction_id")

_FORGET_INTERACTION = text(
    "DELETE FROM signals WHERE product_id = :product_id "
    "AND environment_id = :environment_id AND interaction_id = :interaction_id"
)

_NARROW = text("""
    UPDATE signals SET remembered = false, expires_at = least(expires_at, :expires_at)
    WHERE product_id = :product_id AND environment_id = :environment_id AND interaction_id = :interaction_id
""")

# Whoever it was for, an interaction has at most one request.
_RECORD_CLOSED = text("""
    INSERT INTO closed_requests (environment_id, interaction_id, closed_at)
    SELECT environment_id, interaction_id, expires_at FROM enrichment_requests
    WHERE product_id = :product_id AND customer_id = :customer_id ON CONFLICT DO NOTHING
""")


def revoke(product_id: uuid.UUID, customer_id: uuid.UUID, purpose: str) -> None:
    """Remove a customer's signals of a purpose, and decline its open requests."""
    values = {"product_id": product_id, "customer_id": customer_id, "purpose": purpose, "now": clock.now()}
    session().execute(_FORGET, values)
    session().execute(_CLOSE, values)


def revoke_use(request: EnrichmentRequest) -> None:
    """Remove the signals of one interaction without a customer, and decline its request."""
    values = _interaction(request)
    session().execute(_FORGET_INTERACTION, values)
    session().execute(_CLOSE_ONE, values)


def stop_remembering(request: EnrichmentRequest) -> None:
    """Let the signals of one interaction expire with its request."""
    session().execute(_NARROW, {**_interaction(request), "expires_at": request.expires_at})


def _interaction(request: EnrichmentRequest) -> dict[str, uuid.UUID]:
    """Return what names the interaction of a request in every table."""
    return {
        "product_id": request.product_id,
        "environment_id": request.environment_id,
        "interaction_id": request.interaction_id,
    }


def honor_choices(product_id: uuid.UUID, identity: Identity) -> None:
    """Apply every refusal of a newly linked customer to the signals and requests of both customers."""
    assert identity.customer_id is not None
    for purpose in customers.list_declined(product_id, identity.customer_id):
        revoke(product_id, identity.customer_id, purpose)


def close_requests(product_id: uuid.UUID, customer_id: uuid.UUID) -> None:
    """Record that the interactions of a customer's requests cannot make another one."""
    session().execute(_RECORD_CLOSED, {"product_id": product_id, "customer_id": customer_id})
