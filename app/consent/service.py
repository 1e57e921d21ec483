"""Record consent decisions, and read the state of capabilities and subjects."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import select, text

from app.consent import contract
from app.consent.models import ConsentDecision, ConsentSubject
from app.consent.rules import Basis, CapabilityState, State, basis_of, determine_state
from app.consent.schemas import Subjects
from app.core import clock
from app.core.database import PreparedStatement, session
from app.core.errors import Conflict, Forbidden, Gone, Problem, Unprocessable
from app.core.settings import current_settings
from app.products.key_cache import CallerEnvironment
from app.products.rules import Mode
from app.tokens.capability import Capability


class DecisionRow(NamedTuple):
    """A decision as it is stored."""

    decision: str


FIND_SUBJECT_DECISION = PreparedStatement(
    "find_subject_decision",
    """
    SELECT decision FROM consent_subjects
    WHERE environment_id = :environment_id::uuid AND subject = :subject::text
    """,
    row=DecisionRow,
)

FIND_INTERACTION_DECISION = PreparedStatement(
    "find_interaction_decision",
    """
    SELECT decision FROM consent_decisions
    WHERE environment_id = :environment_id::uuid AND interaction_id = :interaction_id::uuid
    """,
    row=DecisionRow,
)

# A capability that carries no revision may only make the first decision.
_INSERT_SUBJECT_DECISION = text("""
    INSERT INTO consent_subjects (environment_id, subject, decision, revision, decided_at)
    VALUES (:environment_id, :subject, :decision, 1, :now) ON CONFLICT (environment_id, subject) DO NOTHING
    RETURNING revision
""")

# A capability that carries a revision may only replace that one.
_UPDATE_SUBJECT_DECISION = text("""
    UPDATE consent_subjects SET decision = :decision, revision = revision + 1, decided_at = :now
    WHERE environment_id = :environment_id AND subject = :subject AND revision = :expected_revision RETURNING revision
""")

_INSERT_DECISION = text("""
    INSERT INTO consent_decisions
        (environment_id, interaction_id, subject, decision, revision, question, key_id, decided_at)
    VALUES (:environment_id, :interaction_id, :subject, :decision, :revision, :question, :key_id, :now)
    ON CONFLICT (environment_id, interaction_id) DO NOTHING RETURNING 1
""")


class FeedbackOff(Gone):
    """The environment takes no feedback."""

    code = "feedback_off"
    sentence = "This product does not take feedback any more; please do not send it again."


class ConsentMissing(Forbidden):
    """The environment's mode asks for an approval that is not on record."""

    code = "consent_missing"
    sentence = "The user has not approved sending feedback about this product; please do not send it."


class NothingToDecide(Conflict):
    """The environment's mode does not ask for consent."""

    code = "nothing_to_decide"
    sentence = "This product does not ask for consent, so there is nothing to decide."


class _ConcurrentDecision(Exception):
    """Another capability recorded a decision at the same time."""


@dataclass(frozen=True, slots=True)
class Introspection:
    """The authoritative state of a capability."""

    state: State
    configured_mode: Mode
    consent_policy: str
    product_name: str
    canonical_question: str | None
    expires_at: datetime
    submit: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The state after a decision, and the contract where feedback may now be sent."""

    state: State
    decided_at: datetime | None
    changed: bool
    feedback: dict[str, Any] | None


def introspect(environment: CallerEnvironment, capability: Capability, token: str) -> Introspection:
    """Return what an agent may do with its capability."""
    capability_state = _find_state(environment, capability)
    is_ready = capability_state.state is State.FEEDBACK_READY
    return Introspection(
        state=capability_state.state,
        configured_mode=environment.mode,
        consent_policy=capability_state.policy,
        product_name=environment.product_name,
        canonical_question=contract.question(capability_state.question, current_settings().service_name)
        if capability_state.question
        else None,
        expires_at=datetime.fromtimestamp(capability.expires_at, UTC),
        submit=contract.submit_report(current_settings().feedback_url, token) if is_ready else None,
    )


def require_approval(environment: CallerEnvironment, capability: Capability) -> None:
    """Raise unless the environment's mode lets this capability send feedback."""
    if environment.mode is Mode.NEVER_ASK:
        return
    if _find_state(environment, capability).state is not State.FEEDBACK_READY:
        raise ConsentMissing


def decide(environment: CallerEnvironment, capability: Capability, token: str, decision: str) -> DecisionResult:
    """Record the user's decision if this capability may still make one, and return the state.

    The first decision of an interaction stays. A decision about a customer replaces exactly the revision that the
    capability carries, so a delayed or replayed capability never overwrites a newer choice.
    """
    if environment.mode in (Mode.NEVER_ASK, Mode.OFF):
        raise NothingToDecide
    is_recorded = _interaction_decision(environment, capability) is None and _record(environment, capability, decision)
    basis = basis_of(environment.mode, has_subject=capability.subject is not None)
    interaction_decision = _interaction_decision(environment, capability)
    subject_decision = _subject_decision(environment, capability) if basis is Basis.SUBJECT else None
    decision_row = subject_decision or interaction_decision
    state = determine_state(basis, decision_row.decision if decision_row else None).state
    # A capability that was too late gets the state and nothing else; one whose interaction has decided may go on.
    may_send_feedback = interaction_decision is not None and state is State.FEEDBACK_READY
    url = current_settings().feedback_url
    return DecisionResult(
        state=state,
        decided_at=decision_row.decided_at if decision_row else None,
        changed=is_recorded,
        feedback=contract.feedback_ready(url, token, capability.expires_at, environment.mode)
        if may_send_feedback
        else None,
    )


def get_states(environment: CallerEnvironment, query: Subjects) -> dict[str, Any]:
    """Return the remembered decision of one subject, or of each of several."""
    if (query.subject is None) == (query.subjects is None):
        problem = Problem("", "required", "Send either subject or subjects.")
        raise Unprocessable(problems=[problem])
    if query.subjects is not None:
        return {"subjects": list_states(environment, query.subjects)}
    state = list_states(environment, [query.subject or ""])[0]
    return {"state": state["state"], "revision": state["revision"]}


def list_states(environment: CallerEnvironment, subjects: list[str]) -> list[dict[str, Any]]:
    """Return the remembered decision and revision of each subject, in their order."""
    rows = session().scalars(
        select(ConsentSubject).where(
            ConsentSubject.environment_id == environment.id, ConsentSubject.subject.in_(subjects)
        )
    )
    rows_by_subject = {row.subject: row for row in rows}
    return [
        {
            "subject": subject,
            "state": rows_by_subject[subject].decision if subject in rows_by_subject else "unknown",
            "revision": rows_by_subject[subject].revision if subject in rows_by_subject else 0,
        }
        for subject in subjects
    ]


def _record(environment: CallerEnvironment, capability: Capability, decision: str) -> bool:
    basis = basis_of(environment.mode, has_subject=capability.subject is not None)
    values = {
        "environment_id": environment.id,
        "interaction_id": capability.interaction_id,
        "subject": capability.subject if basis is Basis.SUBJECT else None,
        "expected_revision": capability.revision,
        "decision": decision,
        "revision": None,
        "question": contract.question_version(str(basis)),
        "key_id": capability.key_id,
        "now": clock.now(),
    }
    try:
        # Both are written or neither: another capability of the same interaction may decide concurrently.
        with session().begin_nested():
            if basis is Basis.SUBJECT:
                values["revision"] = _write_subject(values)
            if session().execute(_INSERT_DECISION, values).scalar() is None:
                raise _ConcurrentDecision
    except _ConcurrentDecision:
        return False
    return True


def _write_subject(values: dict[str, Any]) -> int:
    statement = _UPDATE_SUBJECT_DECISION if values["expected_revision"] else _INSERT_SUBJECT_DECISION
    revision: int | None = session().execute(statement, values).scalar()
    if revision is None:
        raise _ConcurrentDecision
    return revision


def _find_state(environment: CallerEnvironment, capability: Capability) -> CapabilityState:
    if environment.mode is Mode.OFF:
        raise FeedbackOff
    basis = basis_of(environment.mode, has_subject=capability.subject is not None)
    if basis is Basis.NOBODY:
        return determine_state(basis, None)
    if basis is Basis.SUBJECT:
        subject_decision = FIND_SUBJECT_DECISION.first(environment_id=environment.id, subject=capability.subject)
        if subject_decision:
            return determine_state(basis, subject_decision.decision)
    interaction_decision = FIND_INTERACTION_DECISION.first(
        environment_id=environment.id, interaction_id=capability.interaction_id
    )
    # An interaction decides once. One that decided while every use was asked about keeps that decision, for this use.
    return (
        determine_state(Basis.INTERACTION, interaction_decision.decision)
        if interaction_decision
        else determine_state(basis, None)
    )


def _interaction_decision(environment: CallerEnvironment, capability: Capability) -> ConsentDecision | None:
    return session().get(ConsentDecision, (environment.id, capability.interaction_id), populate_existing=True)


def _subject_decision(environment: CallerEnvironment, capability: Capability) -> ConsentSubject | None:
    return session().get(ConsentSubject, (environment.id, capability.subject), populate_existing=True)
