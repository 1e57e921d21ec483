"""Recording decisions and outcomes: each once, with the same answer for every retry."""

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.context.models import ContextRetrieval
from app.core import clock
from app.core.database import session
from app.core.errors import Conflict, NotFound, Problem, Unprocessable
from app.customers import service as customers
from app.personalization.models import PersonalizationDecision, PersonalizationOutcome
from app.personalization.schemas import NewDecision, NewOutcome
from app.products.key_cache import CallerEnvironment

Stored = TypeVar("Stored")

MAX_TRIES = 5


class UnknownRetrieval(NotFound):
    """A decision needs what was retrieved."""

    code = "unknown_retrieval"
    sentence = "This product has no retrieval with this id; retrieve the customer's context first."


class UnknownDecision(NotFound):
    """An outcome needs its decision."""

    code = "unknown_decision"
    sentence = "This product has no decision with this id; decisionId is the id that the service gave it."


class DecisionChanged(Conflict):
    """A decision is recorded once."""

    code = "decision_changed"
    sentence = "This externalDecisionId stands for another decision already."


class OutcomeChanged(Conflict):
    """An outcome is recorded once."""

    code = "outcome_changed"
    sentence = "This externalOutcomeId stands for another outcome already."


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision as it is told."""

    id: uuid.UUID
    external_decision_id: str
    context_retrieval_id: uuid.UUID
    purpose: str
    signal_ids: list[uuid.UUID]
    variant: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """An outcome as it is told."""

    id: uuid.UUID
    external_outcome_id: str
    decision_id: uuid.UUID
    outcome: str
    occurred_at: datetime
    created_at: datetime


def record_decision(environment: CallerEnvironment, made: NewDecision) -> Decision:
    """Store what was decided; a retry finds it, even when what it was made from has gone."""
    retrieval_id, signal_ids = uuid.UUID(made.context_retrieval_id), sorted(map(uuid.UUID, made.signal_ids))
    found = _find_decision(environment, made.external_decision_id)
    if found is None:
        found = _add_decision(environment, made, retrieval_id, signal_ids)
    if (found.retrieval_id, found.signal_ids, found.variant) != (retrieval_id, signal_ids, made.variant):
        raise DecisionChanged
    return Decision(
        id=found.id,
        external_decision_id=found.external_id,
        context_retrieval_id=found.retrieval_id,
        purpose=found.purpose,
        signal_ids=found.signal_ids,
        variant=found.variant,
        created_at=found.created_at,
    )


def record_outcome(environment: CallerEnvironment, told: NewOutcome) -> Outcome:
    """Store what came of a decision; a retry finds it."""
    decision_id, occurred_at = uuid.UUID(told.decision_id), _storable(told.occurred_at)
    found = _find_outcome(environment, told.external_outcome_id)
    if found is None:
        found = _add_outcome(environment, told, decision_id, occurred_at)
    if (found.decision_id, found.outcome, found.occurred_at) != (decision_id, told.outcome, occurred_at):
        raise OutcomeChanged
    return Outcome(
        id=found.id,
        external_outcome_id=found.external_id,
        decision_id=found.decision_id,
        outcome=found.outcome,
        occurred_at=found.occurred_at or found.created_at,
        created_at=found.created_at,
    )


def _add_decision(
    environment: CallerEnvironment, made: NewDecision, retrieval_id: uuid.UUID, signal_ids: list[uuid.UUID]
) -> PersonalizationDecision:
    retrieval = _lock_retrieval(environment, retrieval_id)
    _check_signals(made.signal_ids, retrieval)
    stored = insert(PersonalizationDecision).values(
        product_id=environment.product_id,
        external_id=made.external_decision_id,
        id=uuid.uuid4(),
        retrieval_id=retrieval_id,
        customer_id=retrieval.customer_id,
        purpose=retrieval.purpose,
        signal_ids=signal_ids,
        variant=made.variant,
        created_at=clock.now(),
    )
    session().execute(stored.on_conflict_do_nothing())
    return _found(_find_decision(environment, made.external_decision_id))


def _lock_retrieval(environment: CallerEnvironment, retrieval_id: uuid.UUID) -> ContextRetrieval:
    """Return a retrieval whose customer is locked, so that nobody links or erases the customer meanwhile."""
    identity = (environment.product_id, retrieval_id)
    for _ in range(MAX_TRIES):
        found = session().get(ContextRetrieval, identity, populate_existing=True)
        if found is None or found.customer_id is None:
            break
        customer_id = found.customer_id
        if customers.lock(environment.product_id, customer_id):
            found = session().get(ContextRetrieval, identity, populate_existing=True)
            if found is not None and found.customer_id == customer_id:
                return found
    if found is None or found.customer_id is not None:
        raise UnknownRetrieval
    return found


def _check_signals(signal_ids: list[str], retrieval: ContextRetrieval) -> None:
    problems, seen = [], set()
    for index, signal_id in enumerate(map(uuid.UUID, signal_ids)):
        if signal_id not in retrieval.signal_ids:
            sentence = "This signal was not in the retrieval."
            problems.append(Problem(f"/signalIds/{index}", "not_retrieved", sentence))
        if signal_id in seen:
            problems.append(Problem(f"/signalIds/{index}", "distinct", "Each signal may be there once."))
        seen.add(signal_id)
    if problems:
        raise Unprocessable(problems=problems)


def _add_outcome(
    environment: CallerEnvironment, told: NewOutcome, decision_id: uuid.UUID, occurred_at: datetime | None
) -> PersonalizationOutcome:
    wanted = select(PersonalizationDecision.id).where(
        PersonalizationDecision.product_id == environment.product_id, PersonalizationDecision.id == decision_id
    )
    if session().scalar(wanted) is None:
        raise UnknownDecision
    stored = insert(PersonalizationOutcome).values(
        product_id=environment.product_id,
        external_id=told.external_outcome_id,
        id=uuid.uuid4(),
        decision_id=decision_id,
        outcome=told.outcome,
        occurred_at=occurred_at,
        created_at=clock.now(),
    )
    session().execute(stored.on_conflict_do_nothing())
    return _found(_find_outcome(environment, told.external_outcome_id))


def _find_decision(environment: CallerEnvironment, external_id: str) -> PersonalizationDecision | None:
    return session().get(PersonalizationDecision, (environment.product_id, external_id))


def _find_outcome(environment: CallerEnvironment, external_id: str) -> PersonalizationOutcome | None:
    return session().get(PersonalizationOutcome, (environment.product_id, external_id))


def _found(row: Stored | None) -> Stored:
    """Return what was stored here, or by a call at the same instant that was first."""
    assert row is not None
    return row


def _storable(instant: datetime | None) -> datetime | None:
    """Return an instant as the database gives it back: in UTC, a day inside of what there is."""
    if instant is None:
        return None
    try:
        return max(_FIRST, min(_LAST, instant.astimezone(UTC)))
    except OverflowError:
        return _LAST if instant.year > 1 else _FIRST


_FIRST = datetime(1, 1, 2, tzinfo=UTC)
_LAST = datetime(9999, 12, 30, tzinfo=UTC)
