"""Record decisions and outcomes once, with the same response to every retry."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, delete, select
from sqlalchemy.dialects.postgresql import insert

from app.context import service as context
from app.context.models import ContextRetrieval
from app.core import clock
from app.core.database import session
from app.core.database.deletion import delete_rows
from app.core.errors import Conflict, NotFound, Problem, Unprocessable
from app.customers import locks
from app.customers.locks import CustomerGone
from app.personalization.models import PersonalizationDecision, PersonalizationOutcome
from app.personalization.schemas import NewDecision, NewOutcome
from app.products.key_cache import CallerEnvironment


class UnknownRetrieval(NotFound):
    """The retrieval of the decision does not exist."""

    code = "unknown_retrieval"
    sentence = "This product has no retrieval with this id; retrieve the customer's context first."


class UnknownDecision(NotFound):
    """The decision of the outcome does not exist."""

    code = "unknown_decision"
    sentence = "This product has no decision with this id; decisionId is the id that the service gave it."


class DecisionChanged(Conflict):
    """The decision is recorded already, with other values."""

    code = "decision_changed"
    sentence = "This externalDecisionId stands for another decision already."


class OutcomeChanged(Conflict):
    """The outcome is recorded already, with other values."""

    code = "outcome_changed"
    sentence = "This externalOutcomeId stands for another outcome already."


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision, as responses contain it."""

    id: uuid.UUID
    external_decision_id: str
    context_retrieval_id: uuid.UUID
    purpose: str
    signal_ids: list[uuid.UUID]
    variant: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome, as responses contain it."""

    id: uuid.UUID
    external_outcome_id: str
    decision_id: uuid.UUID
    outcome: str
    occurred_at: datetime
    created_at: datetime


def record_decision(environment: CallerEnvironment, new_decision: NewDecision) -> Decision:
    """Store a decision; a retry finds it, even when what it was made from no longer exists."""
    retrieval_id = uuid.UUID(new_decision.context_retrieval_id)
    signal_ids = sorted(map(uuid.UUID, new_decision.signal_ids))
    row = _find_decision(environment, new_decision.external_decision_id)
    if row is None:
        row = _add_decision(environment, new_decision, retrieval_id, signal_ids)
    differences = _differences(
        ("contextRetrievalId", row.retrieval_id, retrieval_id),
        ("signalIds", row.signal_ids, signal_ids),
        ("variant", row.variant, new_decision.variant),
    )
    if differences:
        raise DecisionChanged(problems=differences)
    return Decision(
        id=row.id,
        external_decision_id=row.external_id,
        context_retrieval_id=row.retrieval_id,
        purpose=row.purpose,
        signal_ids=row.signal_ids,
        variant=row.variant,
        created_at=row.created_at,
    )


def record_outcome(environment: CallerEnvironment, new_outcome: NewOutcome) -> Outcome:
    """Store the outcome of a decision; a retry finds it."""
    row = _find_outcome(environment, new_outcome.external_outcome_id)
    if row is None:
        row = _add_outcome(environment, new_outcome)
    differences = _differences(
        ("decisionId", row.decision_id, uuid.UUID(new_outcome.decision_id)),
        ("outcome", row.outcome, new_outcome.outcome),
        ("occurredAt", row.occurred_at, new_outcome.occurred_at),
    )
    if differences:
        raise OutcomeChanged(problems=differences)
    return Outcome(
        id=row.id,
        external_outcome_id=row.external_id,
        decision_id=row.decision_id,
        outcome=row.outcome,
        occurred_at=row.occurred_at or row.created_at,
        created_at=row.created_at,
    )


def select_outcomes(product_id: uuid.UUID, customer_id: uuid.UUID) -> Select[Any]:
    """Return the query of a customer's outcomes, which refer to the customer only through their decisions."""
    return select(PersonalizationOutcome.__table__).where(*_customer_conditions(product_id, customer_id))


def erase_outcomes(product_id: uuid.UUID, customer_id: uuid.UUID) -> int:
    """Remove a customer's outcomes; returns how many there were. Call it before the decisions are removed."""
    return delete_rows(delete(PersonalizationOutcome).where(*_customer_conditions(product_id, customer_id)))


def _customer_conditions(product_id: uuid.UUID, customer_id: uuid.UUID) -> tuple[ColumnElement[bool], ...]:
    decisions = select(PersonalizationDecision.id).where(
        PersonalizationDecision.product_id == product_id, PersonalizationDecision.customer_id == customer_id
    )
    return PersonalizationOutcome.product_id == product_id, PersonalizationOutcome.decision_id.in_(decisions)


def _differences(*members: tuple[str, Any, Any]) -> list[Problem]:
    """Return a problem for each (name, stored value, sent value) that differs."""
    sentence = "This differs from what was recorded first."
    return [Problem(f"/{name}", "changed", sentence) for name, stored_value, value in members if stored_value != value]


def _add_decision(
    environment: CallerEnvironment, new_decision: NewDecision, retrieval_id: uuid.UUID, signal_ids: list[uuid.UUID]
) -> PersonalizationDecision:
    retrieval = _lock_retrieval(environment, retrieval_id)
    _check_signals(new_decision.signal_ids, retrieval)
    statement = insert(PersonalizationDecision).values(
        product_id=environment.product_id,
        external_id=new_decision.external_decision_id,
        id=uuid.uuid4(),
        retrieval_id=retrieval_id,
        customer_id=retrieval.customer_id,
        purpose=retrieval.purpose,
        signal_ids=signal_ids,
        variant=new_decision.variant,
        created_at=clock.now(),
    )
    session().execute(statement.on_conflict_do_nothing())
    # Inserted here, or by a concurrent call.
    return session().get_one(PersonalizationDecision, (environment.product_id, new_decision.external_decision_id))


def _lock_retrieval(environment: CallerEnvironment, retrieval_id: uuid.UUID) -> ContextRetrieval:
    """Return a retrieval whose customer is locked, so that nobody links or erases the customer meanwhile."""

    def find_customer_id() -> uuid.UUID | None:
        retrieval = context.find_retrieval(environment.product_id, retrieval_id)
        return retrieval.customer_id if retrieval else None

    try:
        customer_id = locks.lock_current(environment.product_id, find_customer_id)
    except CustomerGone:
        raise UnknownRetrieval from None
    retrieval = context.find_retrieval(environment.product_id, retrieval_id)
    if retrieval is None or retrieval.customer_id != customer_id:
        raise UnknownRetrieval
    return retrieval


def _check_signals(signal_ids: list[str], retrieval: ContextRetrieval) -> None:
    problems, earlier_ids = [], set()
    for index, signal_id in enumerate(map(uuid.UUID, signal_ids)):
        if signal_id not in retrieval.signal_ids:
            sentence = "This signal was not in the retrieval."
            problems.append(Problem(f"/signalIds/{index}", "not_retrieved", sentence))
        if signal_id in earlier_ids:
            problems.append(Problem(f"/signalIds/{index}", "distinct", "Each signal may be there once."))
        earlier_ids.add(signal_id)
    if problems:
        raise Unprocessable(problems=problems)


def _add_outcome(environment: CallerEnvironment, new_outcome: NewOutcome) -> PersonalizationOutcome:
    decision_id = uuid.UUID(new_outcome.decision_id)
    decisions = select(PersonalizationDecision.id).where(
        PersonalizationDecision.product_id == environment.product_id, PersonalizationDecision.id == decision_id
    )
    if session().scalar(decisions) is None:
        raise UnknownDecision
    statement = insert(PersonalizationOutcome).values(
        product_id=environment.product_id,
        external_id=new_outcome.external_outcome_id,
        id=uuid.uuid4(),
        decision_id=decision_id,
        outcome=new_outcome.outcome,
        occurred_at=new_outcome.occurred_at,
        created_at=clock.now(),
    )
    session().execute(statement.on_conflict_do_nothing())
    # Inserted here, or by a concurrent call.
    return session().get_one(PersonalizationOutcome, (environment.product_id, new_outcome.external_outcome_id))


def _find_decision(environment: CallerEnvironment, external_id: str) -> PersonalizationDecision | None:
    return session().get(PersonalizationDecision, (environment.product_id, external_id))


def _find_outcome(environment: CallerEnvironment, external_id: str) -> PersonalizationOutcome | None:
    return session().get(PersonalizationOutcome, (environment.product_id, external_id))
