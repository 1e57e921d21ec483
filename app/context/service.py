"""Retrieve a customer's context, and record the retrieval."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.context.models import ContextRetrieval
from app.context.rules import MAX_ITEMS, context_version
from app.context.schemas import ContextQuery
from app.core import clock
from app.core.database import PreparedStatement, session
from app.core.errors import Problem, Unprocessable
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.customers import locks
from app.customers.locks import CustomerGone
from app.customers.rules import Level, References, digest_references
from app.customers.sql import NAMED_CUSTOMER, locked_customer
from app.enrichment.sql import INTERACTION_CUSTOMER, INTERACTION_SIGNALS, remembered_signals
from app.products.key_cache import CallerEnvironment


class RetrievalRow(NamedTuple):
    """One row of a retrieval: its level, whether its customer was removed meanwhile, and an item if there is any."""

    identity_level: Level | None
    has_moved: bool
    signal_id: uuid.UUID
    key: str
    type: str
    value: str
    summary: str
    provenance: str
    confidence: float | None
    remembered: bool
    expires_at: datetime
    allowed_uses: list[str]


_STORE_RETRIEVAL = """
    INSERT INTO context_retrievals
        (product_id, id, environment_id, customer_id, purpose, signal_ids, created_at)
    SELECT :product_id, :retrieval_id::uuid, :environment_id::uuid, (SELECT id FROM subject), :purpose,
           coalesce(array_agg(signal_id), ARRAY[]::uuid[]), :now
    FROM items HAVING NOT (SELECT has_moved FROM status)
    ON CONFLICT (product_id, id) DO NOTHING
"""


def _items(candidates: str) -> str:
    """Return the query of the newest signal of each key. `candidates` is a query of signals."""
    return f"""
        SELECT DISTINCT ON (c.key) c.id AS signal_id, c.key, c.type, c.value, c.summary, c.provenance,
               c.confidence, c.remembered, c.expires_at
        FROM ({candidates}) AS c
        -- A browser may be used by somebody else after its visitor has signed in and out.
        WHERE (SELECT identity_level FROM status) IS DISTINCT FROM 'pseudonymous'
           OR c.customer_id IS NULL OR c.identity_level = 'pseudonymous'
        ORDER BY c.key, c.created_at DESC, c.id LIMIT {MAX_ITEMS}
    """


def _retrieval(name: str, subject: str, candidates: str) -> PreparedStatement[RetrievalRow]:
    """Return the statement that stores a retrieval and returns its rows.

    `subject` is an SQL expression of whose context it is, and `candidates` a query of signals.
    """
    # One statement, so that it sees one moment, and one that asks by index only. It locks the customer before it
    # stores the retrieval, so that who erases or links the customer finds it.
    return PreparedStatement(
        name,
        f"""
        WITH {NAMED_CUSTOMER}, subject AS (SELECT {subject} AS id), locked AS (
            {locked_customer("(SELECT id FROM subject)")}
        ), status AS (
            SELECT (SELECT level FROM customer) AS identity_level,
                   id IS NOT NULL AND NOT EXISTS (SELECT FROM locked) AS has_moved
            FROM subject
        ), items AS ({_items(candidates)}), stored AS ({_STORE_RETRIEVAL})
        SELECT *, ARRAY[:purpose::text] AS allowed_uses FROM status LEFT JOIN items ON true ORDER BY key
        """,
        row=RetrievalRow,
    )


_CUSTOMER = "(SELECT id FROM customer)"

RETRIEVE_CONTEXT = _retrieval("retrieve_context", _CUSTOMER, remembered_signals(_CUSTOMER))

RETRIEVE_CONTEXT_OF_INTERACTION = _retrieval(
    "retrieve_context_of_interaction",
    # Whose interaction it was counts where no reference says it, so that erasing the customer finds this too.
    f"""CASE WHEN :users IS NULL AND :accounts IS NULL AND :anonymous IS NULL THEN {INTERACTION_CUSTOMER}
        ELSE {_CUSTOMER} END""",
    f"""{remembered_signals(_CUSTOMER)}
        UNION ALL
        SELECT * FROM ({INTERACTION_SIGNALS}) AS i
        WHERE (:users IS NULL AND :accounts IS NULL AND :anonymous IS NULL)
           OR i.customer_id IS NULL OR i.customer_id = {_CUSTOMER}""",
)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """A customer's context, and the id that a decision names it by."""

    retrieval_id: uuid.UUID
    identity_level: Level
    context_version: str
    interaction_id: uuid.UUID | None
    items: list[RetrievalRow]


def retrieve(environment: CallerEnvironment, query: ContextQuery) -> Retrieval:
    """Return what may be used for a purpose right now; creates nothing but the retrieval itself."""
    keys = pepper_ring().derive_all(Purpose.CUSTOMER_REFERENCES, environment.product_id)
    references = digest_references(keys, query.account_ref, query.user_ref, query.anonymous_ref)
    if references.level is Level.EPHEMERAL and query.interaction_id is None:
        sentence = "Send userRef, accountRef or anonymousRef, or the interactionId that was answered in."
        raise Unprocessable(problems=[Problem("", "required", sentence)])
    retrieval_id = uuid.uuid4()
    rows = locks.retry(lambda: _retrieve_rows(environment, query, references, retrieval_id))
    items = [row for row in rows if row.signal_id is not None]
    return Retrieval(
        retrieval_id=retrieval_id,
        identity_level=Level(rows[0].identity_level or references.level),
        context_version=context_version(query.purpose, (item.signal_id for item in items)),
        interaction_id=uuid.UUID(query.interaction_id) if query.interaction_id else None,
        items=items,
    )


def find_retrieval(product_id: uuid.UUID, retrieval_id: uuid.UUID) -> ContextRetrieval | None:
    """Return a stored retrieval as it is in the database now."""
    return session().get(ContextRetrieval, (product_id, retrieval_id), populate_existing=True)


def _retrieve_rows(
    environment: CallerEnvironment, query: ContextQuery, references: References, retrieval_id: uuid.UUID
) -> list[RetrievalRow]:
    """Return at least one row, or raise `CustomerGone` if the customer was erased or linked at that instant."""
    values = {
        "product_id": environment.product_id,
        "environment_id": environment.id,
        "retrieval_id": retrieval_id,
        "users": references.user,
        "accounts": references.account,
        "anonymous": references.anonymous,
        "purpose": query.purpose,
        "now": clock.now(),
    }
    if query.interaction_id is None:
        rows = RETRIEVE_CONTEXT.all(**values)
    else:
        rows = RETRIEVE_CONTEXT_OF_INTERACTION.all(**values, interaction_id=uuid.UUID(query.interaction_id))
    if rows[0].has_moved:
        raise CustomerGone
    return rows
