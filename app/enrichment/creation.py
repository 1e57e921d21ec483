"""Store a new request together with its interaction, in one round trip where its customer is known already."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from app.core import clock
from app.core.clients import browser_family, network_of
from app.core.database import PreparedStatement, PreparedTransaction, first_in_session
from app.core.pepper import pepper_ring
from app.core.wire.serialization import dumps
from app.customers import service as customers
from app.customers.linking import LAST_SEEN_PRECISION
from app.customers.rules import References
from app.customers.sql import RESOLVED_CUSTOMER, decision, newest_digests, update_last_seen, writable_customer
from app.enrichment import revocation
from app.enrichment.queries import FIND_REQUEST_OF_INTERACTION, LOCK_CUSTOMER, StoredRequest
from app.enrichment.rules import HANDLE_LIFETIME_S, INTERACTION_SURFACES
from app.enrichment.schemas import NewRequest, Observation
from app.enrichment.selection import Selection
from app.interactions.sql import fill_interactions, insert_interactions
from app.products.key_cache import CallerEnvironment
from app.products.sql import retention_days


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A call with everything that is derived from it before the database is read."""

    environment: CallerEnvironment
    key_id: str
    new_request: NewRequest
    references: References
    fingerprints: list[bytes]
    """Under each pepper, that of the newest first."""

    @property
    def interaction_id(self) -> uuid.UUID:
        return uuid.UUID(self.new_request.interaction_id)


_INSERT = """
    INSERT INTO enrichment_requests (environment_id, interaction_id, id, product_id, customer_id, identity_level,
        key_id, fingerprint, operation, surface, purpose, remember, state, catalog_version, catalog_hash, catalog,
        withheld_keys, status_code, duration_ms, runtime_hint, observation, created_at, expires_at)
    -- Nobody can be remembered who is not known again.
    SELECT :environment_id::uuid, :interaction_id::uuid, :request_id::uuid, :product_id, id, :identity_level,
        :key_id, :fingerprint, :operation::text, :surface, :purpose, :remember::boolean AND id IS NOT NULL,
        {state}, :catalog_version, :catalog_hash, :catalog, :withheld_keys, :status_code::smallint,
        :duration_ms::double precision, :runtime_hint::text, :observation, :now::timestamptz, :expires_at
    FROM {customer}
    ON CONFLICT (environment_id, interaction_id) DO NOTHING
"""


_NEW_INTERACTION = """
    (SELECT :environment_id::uuid AS environment_id, :interaction_id::uuid AS interaction_id,
            :now::timestamptz AS created_at, :interaction_surface::text AS surface, :operation::text AS operation,
            :status_code::smallint AS status_code, :duration_ms::double precision AS duration_ms,
            :runtime_hint::text AS runtime_hint
     FROM customer) AS new_interaction
"""


class NewRow(NamedTuple):
    """What is known of a request when it is stored."""

    customer_id: uuid.UUID | None
    remember: bool
    state: str
    retention_days: int


# The lock comes first, so this sees every refusal that came before the request, and every link: it stores nothing
# unless the references still name the customer that is locked. It stores nothing either where the interaction is there
# already, which has to be filled in. It reads no table of requests or interactions, whose indexes the planner confuses
# while their statistics say that they are empty.
_INSERT_WITH_INTERACTION = PreparedStatement(
    "insert_request_with_interaction",
    f"""
    WITH {RESOLVED_CUSTOMER}, customer AS (
        SELECT id FROM resolved WHERE id IS NOT DISTINCT FROM :customer_id::uuid
    ), seen AS ({update_last_seen("(SELECT id FROM customer)")}), {insert_interactions(_NEW_INTERACTION)}, stored AS ({
        _INSERT.format(
            state=f"CASE {decision('id')} WHEN 'declined' THEN 'declined' ELSE 'answer_ready' END",
            customer="customer WHERE EXISTS (SELECT FROM inserted)",
        )
    }
        RETURNING customer_id, remember, state
    )
    SELECT customer_id, remember, state, {retention_days(":environment_id")} AS retention_days FROM stored
    """,
    row=NewRow,
)

STORE_WITH_INTERACTION = PreparedTransaction(
    "store_request_with_interaction", LOCK_CUSTOMER, last=_INSERT_WITH_INTERACTION
)

_INSERT_REQUEST = PreparedStatement(
    "insert_request",
    f"""
    WITH {RESOLVED_CUSTOMER}, locked AS (
        {writable_customer("(SELECT id FROM resolved)")}
    ), customer AS (
        SELECT id FROM resolved WHERE id IS NULL OR EXISTS (SELECT FROM locked)
    ), seen AS ({update_last_seen("(SELECT id FROM customer)")}), stored AS ({
        _INSERT.format(state="'answer_ready'", customer="customer")
    }
        RETURNING environment_id, interaction_id, created_at, :interaction_surface::text AS surface, operation,
            status_code, duration_ms, runtime_hint
    ), {insert_interactions("stored")}
    SELECT FROM stored
    """,
)

_FILL_INTERACTION = PreparedStatement(
    "fill_interaction",
    f"""
    WITH stored AS (
        SELECT environment_id, interaction_id, created_at, :interaction_surface::text AS surface, operation,
            status_code, duration_ms, runtime_hint
        FROM enrichment_requests
        WHERE environment_id = :environment_id::uuid AND interaction_id = :interaction_id::uuid
          AND id = :request_id::uuid
    ), {fill_interactions("stored")}
    SELECT FROM filled
    """,
)

# It begins when the customer is locked, so it sees every refusal that came before the request.
_APPLY_REFUSAL = PreparedStatement(
    "apply_refusal",
    f"""
    UPDATE enrichment_requests r SET state = 'declined'
    WHERE r.environment_id = :environment_id::uuid AND r.interaction_id = :interaction_id::uuid
      AND r.id = :request_id::uuid AND {decision("r.customer_id")} = 'declined'
    """,
)

STORE_REQUEST = PreparedTransaction(
    "store_request", _INSERT_REQUEST, _FILL_INTERACTION, _APPLY_REFUSAL, last=FIND_REQUEST_OF_INTERACTION
)
"""Returns the interaction's request, a new or an earlier one; none where `customers.resolve` has to come first."""


def store(call: RequestContext, selection: Selection, customer_id: uuid.UUID | None) -> StoredRequest | None:
    """Store a request; return None if its interaction has one meanwhile.

    `customer_id` is the customer that its references named a moment ago, if any.
    """
    values = {
        **_identity_values(call),
        **_measured_values(call.new_request),
        "catalog_version": selection.version,
        "catalog_hash": selection.hash,
        "catalog": selection.text,
        "withheld_keys": selection.withheld_keys,
    }
    # Digests under older peppers are renewed by the way that resolves a customer step by step.
    if not pepper_ring().has_older:
        row = STORE_WITH_INTERACTION.first(**values, customer_id=customer_id)
        if row is not None:
            return _new_request(values, selection, row)
    request = None if pepper_ring().has_older else STORE_REQUEST.first(**values)
    if request is None:
        identity = customers.resolve(call.environment.product_id, call.references)
        if identity.has_been_linked:
            revocation.honor_choices(call.environment.product_id, identity)
        request = first_in_session(STORE_REQUEST, **values)
    assert request is not None
    return request if request.id == values["request_id"] else None


def _new_request(values: dict[str, Any], selection: Selection, row: NewRow) -> StoredRequest:
    """Return a request that was just stored, without reading it back."""
    known_values = {name: value for name, value in values.items() if name in StoredRequest._fields}
    return StoredRequest(
        **{
            **known_values,
            **row._asdict(),
            "id": values["request_id"],
            "fingerprint": memoryview(values["fingerprint"]),
            "catalog": selection.entries,
            "answered_as": None,
            "answer_fingerprint": None,
            "receipt": None,
        }
    )


def _identity_values(call: RequestContext) -> dict[str, Any]:
    now, new_request, references = clock.now(), call.new_request, call.references
    return {
        "environment_id": call.environment.id,
        "interaction_id": call.interaction_id,
        "request_id": uuid.uuid4(),
        "product_id": call.environment.product_id,
        **newest_digests(references),
        "identity_level": references.level,
        "key_id": call.key_id,
        "fingerprint": call.fingerprints[0],
        "operation": new_request.operation,
        "surface": new_request.surface,
        "interaction_surface": INTERACTION_SURFACES[new_request.surface],
        "purpose": new_request.purpose,
        "remember": new_request.remember,
        "now": now,
        "seen_before": now - LAST_SEEN_PRECISION,
        "expires_at": now + timedelta(seconds=HANDLE_LIFETIME_S),
    }


def _measured_values(new_request: NewRequest) -> dict[str, Any]:
    observation = new_request.request_observation
    coarse_observation = _coarsen(observation) if observation else None
    return {
        "status_code": new_request.status_code,
        "duration_ms": new_request.duration_ms,
        "runtime_hint": new_request.runtime_hint,
        "observation": dumps(coarse_observation).decode() if coarse_observation else None,
    }


def _coarsen(observation: Observation) -> dict[str, str]:
    """Return what is stored of an observation: the network of its address, and the family of its browser."""
    values = {}
    if observation.client_ip is not None:
        values["network"] = network_of(observation.client_ip)
    if observation.user_agent is not None:
        values["browser"] = browser_family(observation.user_agent)
    return values
