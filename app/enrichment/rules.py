"""What a question may be, how a request moves, and how a value reads."""

from datetime import datetime, timedelta
from enum import StrEnum

from app.customers.rules import APPROVED, DECLINED


class State(StrEnum):
    """Where a request stands."""

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

CANONICAL_TYPES = ("intent", "preference", "constraint", "interest")
FALLBACK_TYPE = "preference"

KEY_PATTERN = r"^[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,46}$"
RESERVED_NAMESPACE = "service"
TYPE_PATTERN = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
MAX_TYPE_LENGTH = 48
VALUE_PATTERN = r"^([0-9]*[a-z][a-z0-9]*(_[a-z0-9]+)*|[0-9]+(_[a-z0-9]+)+)$"
"""Lowercase snake_case with a letter or an underscore: a bare number is refused. Go and Rust have no look-ahead."""
MAX_VALUE_LENGTH = 64
MAX_KEY_LENGTH = 79
MIN_LABEL_LENGTH = 3
MAX_LABEL_LENGTH = 120
MAX_VALUES = 32
MAX_OPERATIONS = 32
MAX_FIELD_KEYS = 8
MAX_ITEMS = 8
MAX_DEFINITIONS = 64
"""Of one product."""

HANDLE_LIFETIME_S = 7200


def canonical_type(authored: str) -> str:
    """Return the class that an answer submits for a category that a product made up."""
    return authored if authored in CANONICAL_TYPES else FALLBACK_TYPE


def state_after(state: State, decision: str) -> State:
    """Return the state after a user's decision: a no always counts, a yes only lifts a no."""
    if decision == DECLINED:
        return State.DECLINED
    assert decision == APPROVED
    return State.ANSWER_READY if state is State.DECLINED else state


def summarize(label: str, value: str) -> str:
    """Return the stored summary of an answer, made of the catalog's words alone."""
    return f"{label}: {value.replace('_', ' ')}"


def expiry(
    now: datetime, wanted: datetime | None, request_expires_at: datetime, retention_days: int | None
) -> datetime:
    """Return when a signal ends: with its request, or, where days are given, with the retention of what is remembered.

    An agent may ask for less and never gets more.
    """
    latest = request_expires_at if retention_days is None else now + timedelta(days=retention_days)
    return latest if wanted is None else min(wanted, latest)
