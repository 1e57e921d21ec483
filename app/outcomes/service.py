"""Recording reviews."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from app.consent import service as consent
from app.core import clock
from app.core.database import HotStatement
from app.core.jobs import Job, ring
from app.outcomes.schemas import Outcome
from app.products.known_keys import CallingEnvironment
from app.screening.service import reject_private
from app.tokens.capability import Capability

# One statement, for speed: the review, and the note from which its interaction is promoted, stored together or not.
_RECORD = HotStatement(
    "record_review",
    ["uuid", "uuid", "uuid", "text", "text", "timestamptz"],
    """
    WITH recorded AS (
        INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at)
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (environment_id, interaction_id) DO NOTHING
        RETURNING environment_id, interaction_id, created_at
    ), noted AS (
        INSERT INTO promotions (environment_id, interaction_id, method, noted_at)
        SELECT environment_id, interaction_id, 'review', created_at FROM recorded
    )
    SELECT 1 FROM recorded
    """,
)

_FIND = HotStatement(
    "find_review",
    ["uuid", "uuid"],
    "SELECT id, outcome, note, created_at FROM reviews WHERE environment_id = $1 AND interaction_id = $2",
)


@dataclass(frozen=True, slots=True)
class RecordedReview:
    """A review as it is stored."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    outcome: str
    note: str
    created_at: datetime
    source: str = "capability"


@dataclass(frozen=True, slots=True)
class AcceptedOutcome:
    """What the agent is told."""

    interaction_id: uuid.UUID
    review: RecordedReview
    accepted: bool = True


def record(environment: CallingEnvironment, capability: Capability, outcome: Outcome) -> AcceptedOutcome:
    """Store a review and ring for the promotion of its interaction; the first review stays."""
    reject_private([("/note", outcome.note)])
    consent.require_approval(environment, capability)
    interaction_id = capability.interaction_id
    review = RecordedReview(uuid.uuid4(), interaction_id, outcome.outcome, outcome.note, clock.now())
    if _RECORD.run(environment.id, interaction_id, review.id, review.outcome, review.note, review.created_at):
        ring(Job.PROMOTE_INTERACTIONS)
        return AcceptedOutcome(interaction_id, review)
    # The statement waited for the one that was first, so that one is committed and seen by a new statement.
    return find_recorded(environment, capability) or record(environment, capability, outcome)


def find_recorded(environment: CallingEnvironment, capability: Capability) -> AcceptedOutcome | None:
    """Return the stored review of an interaction, if there is one."""
    rows = _FIND.run(environment.id, capability.interaction_id)
    if not rows:
        return None
    review_id, outcome, note, created_at = rows[0]
    review = RecordedReview(review_id, capability.interaction_id, outcome, note, created_at)
    return AcceptedOutcome(capability.interaction_id, review)
