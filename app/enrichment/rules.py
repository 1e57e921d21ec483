"""Rules of requests: state transitions and summaries of answers."""

from datetime import datetime, timedelta
from enum import StrEnum

from app.customers.rules import APPROVED, DECLINED, ContextPurpose


class State(StrEnum):
    """The state of a request."""

    ANSWER_READY = "answer_ready"
    DECLINED = "declined"
    ANSWERED = "answered"
    NO_RELEVANT_CONTEXT = "no_relevant_context"


STATES = tuple(map(str, State))
STATUSES = (str(State.ANSWERED), str(State.DECLINED), str(State.NO_RELEVANT_CONTEXT))
"""What an agent may answer; each is also the state that follows."""

SURFACES = ("http_json", "html", "mcp")
INTERACTION_SURFACES = {"http_json": "http_json", "html": "http_html", "mcp": "mcp"}
"""A request's surface as interactions name it."""

STATEMENT = "agent_reports_user_statement"
CURRENT_TASK = "agent_reports_current_task"
INFERENCE = "agent_inference"
PROVENANCES = (STATEMENT, CURRENT_TASK, INFERENCE)

MAX_FIELD_KEYS = 8
MAX_ITEMS = 8

HANDLE_LIFETIME_S = 7200


def state_after(state: State, decision: str) -> State:
    """Return the state after a user's decision: a refusal always applies, an approval only ends a refusal."""
    if decision == DECLINED:
        return State.DECLINED
    assert decision == APPROVED
    return State.ANSWER_READY if state is State.DECLINED else state


def is_usable(is_advertising_safe: bool, purpose: str) -> bool:
    """Tell whether a field may be used for a purpose."""
    return is_advertising_safe or purpose != ContextPurpose.TARGETED_ADVERTISING


def summarize(label: str, value: str) -> str:
    """Return the stored summary of an answer, made of the catalog's words alone."""
    return f"{label}: {value.replace('_', ' ')}"


def expiry(
    now: datetime, requested: datetime | None, request_expires_at: datetime, retention_days: int | None
) -> datetime:
    """Return when a signal ends: with its request, or, where days are given, with the retention of what is remembered.

    An agent may request an earlier end, never a later one.
    """
    latest = request_expires_at if retention_days is None else now + timedelta(days=retention_days)
    return latest if requested is None else min(requested, latest)
