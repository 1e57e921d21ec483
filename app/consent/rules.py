"""Rules of consent: the basis of a decision, and the resulting state of a capability."""

from enum import StrEnum
from typing import NamedTuple

from app.products.rules import Mode

DECISIONS = ("approved", "declined")


class State(StrEnum):
    """What an agent may do with a capability."""

    CONSENT_REQUIRED = "consent_required"
    FEEDBACK_READY = "feedback_ready"
    DECLINED = "declined"


class Basis(StrEnum):
    """What a decision applies to."""

    NOBODY = "none"
    """No approval is needed."""
    SUBJECT = "once"
    """This customer, for this and all later uses."""
    INTERACTION = "always"
    """This one use."""


class CapabilityState(NamedTuple):
    """The state of a capability: what its decision applies to, and what to ask."""

    basis: Basis
    state: State
    policy: str
    question: str | None
    """The name of the question, or None where nothing is to be asked."""


def basis_of(mode: Mode, *, has_subject: bool) -> Basis:
    """Return what a decision applies to in a mode that takes feedback."""
    if mode is Mode.NEVER_ASK:
        return Basis.NOBODY
    return Basis.SUBJECT if mode is Mode.ASK_ONCE and has_subject else Basis.INTERACTION


def determine_state(basis: Basis, decision: str | None) -> CapabilityState:
    """Return the state of a capability, given the decision on record."""
    if basis is Basis.NOBODY:
        return CapabilityState(basis, State.FEEDBACK_READY, "none", None)
    if decision is None:
        return CapabilityState(basis, State.CONSENT_REQUIRED, str(basis), str(basis))
    state = State.FEEDBACK_READY if decision == "approved" else State.DECLINED
    # An approval that is remembered needs no policy any more; one for this use alone keeps it.
    policy = "none" if state is State.FEEDBACK_READY and basis is Basis.SUBJECT else str(basis)
    return CapabilityState(basis, state, policy, None)
