"""Retrieving: reading what is known at this second, and writing down what was read."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from app.context.rules import MAX_ITEMS, context_version
from app.context.schemas import ContextQuery
from app.core import clock
from app.core.database import PreparedStatement
from app.core.errors import Problem, Unprocessable
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.customers.rules import Level, digest_references
from app.products.key_cache import CallerEnvironment

# One statement, so that it sees one moment. It asks by index only: whom the references name, what that customer is
# remembered by, what the interaction told, the newest of each key. What has ended is absent though it is still there.
RETRIEVE_CONTEXT = PreparedStatement(
    "retrieve_context",
    f"""
    WITH named AS (
        SELECT customer_id FROM customer_references
        WHERE product_id = :product_id::uuid AND kind = 'user' AND digest = :user::bytea
          AND (:account::bytea IS NULL OR scope IN (:account, ''))
        UNION ALL
        SELECT customer_id FROM customer_references
        WHERE :user IS NULL AND product_id = :product_id AND kind = 'account' AND digest = :account
        UNION ALL
        SELECT customer_id FROM customer_references
        WHERE :user IS NULL AND :account IS NULL AND product_id = :product_id AND kind = 'anonymous'
          AND digest = :anonymous::bytea
        LIMIT 2
    ), customer AS (
        -- A user of several accounts who is named without one is nobody.
        SELECT (array_agg(customer_id))[1] AS id FROM named HAVING count(*) = 1
    ), kept AS (
        SELECT s.* FROM signals s, customer
        WHERE s.product_id = :product_id AND s.customer_id = customer.id AND s.purpose = :purpose::text AND s.remembered
        UNION ALL
        SELECT s.* FROM signals s
        WHERE s.environment_id = :environment_id::uuid AND s.interaction_id = :interaction_id::uuid
          AND s.product_id = :product_id AND s.purpose = :purpose
          AND ((:user IS NULL AND :account IS NULL AND :anonymous IS NULL) OR s.customer_id IS NULL
               OR s.customer_id = (SELECT id FROM customer))
    ), items AS (
        SELECT DISTINCT ON (k.key) k.id, k.key, k.type, k.value, k.summary, k.provenance, k.confidence, k.remembered,
               k.expires_at
        FROM kept k JOIN environments e ON e.id = k.environment_id
        WHERE k.expires_at > :now::timestamptz AND k.provenance <> 'agent_inference'
          AND k.created_at > :now - make_interval(days => e.retention_days)
          -- A scalar, so that it is looked up by key; as an anti-join it would read every choice of the product.
          AND (SELECT c.decision FROM customer_choices c WHERE c.product_id = :product_id
               AND c.customer_id = k.customer_id AND c.purpose = :purpose) IS DISTINCT FROM 'declined'
        ORDER BY k.key, k.created_at DESC, k.id LIMIT {MAX_ITEMS}
    ), stored AS (
        INSERT INTO context_retrievals (product_id, id, environment_id, customer_id, purpose, signal_ids, created_at)
        -- Whose interaction it was counts where no reference says it, so that erasing the customer finds this too.
        SELECT :product_id, :retrieval_id::uuid, :environment_id,
               CASE WHEN :user IS NULL AND :account IS NULL AND :anonymous IS NULL
               THEN (SELECT customer_id FROM enrichment_requests
                     WHERE environment_id = :environment_id AND interaction_id = :interaction_id)
               ELSE (SELECT id FROM customer) END,
               :purpose, coalesce(array_agg(id), ARRAY[]::uuid[]), :now FROM items
        ON CONFLICT (product_id, id) DO NOTHING
    )
    SELECT * FROM items
    """,
)


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One thing that is known."""

    allowed_uses: list[str]
    signal_id: uuid.UUID
    key: str
    type: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    remembered: bool
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What is known, and the name under which it was read."""

    retrieval_id: uuid.UUID
    identity_level: Level
    context_version: str
    interaction_id: uuid.UUID | None
    items: list[ContextItem]


def retrieve(environment: CallerEnvironment, query: ContextQuery) -> Retrieval:
    """Return what may be used for a purpose right now; nothing is made but the retrieval itself."""
    key = current_pepper().derive(Purpose.CUSTOMER_REFERENCES, environment.product_id)
    references = digest_references(key, query.account_ref, query.user_ref, query.anonymous_ref)
    interaction_id = uuid.UUID(query.interaction_id) if query.interaction_id else None
    if references.level is Level.EPHEMERAL and interaction_id is None:
        sentence = "Send userRef, accountRef or anonymousRef, or the interactionId that was answered in."
        raise Unprocessable(problems=[Problem("", "required", sentence)])
    retrieval_id = uuid.uuid4()
    rows = RETRIEVE_CONTEXT.all(
        product_id=environment.product_id,
        environment_id=environment.id,
        retrieval_id=retrieval_id,
        user=references.user,
        account=references.account,
        anonymous=references.anonymous,
        interaction_id=interaction_id,
        purpose=query.purpose,
        now=clock.now(),
    )
    return Retrieval(
        retrieval_id=retrieval_id,
        identity_level=references.level,
        context_version=context_version(query.purpose, (row[0] for row in rows)),
        interaction_id=interaction_id,
        items=[ContextItem([query.purpose], *row) for row in rows],
    )
