"""Record reviews."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from app.consent import service as consent
from app.core import clock
from app.core.database import PreparedStatement
from app.core.jobs import Job, notify
from app.core.limits.limiter import limiter
from app.interactions.sql import promotion_outbox
from app.outcomes.schemas import Outcome
from app.products.key_cache import CallerEnvironment
from app.screening.service import reject_private
from app.tokens.capability import Capability
from config.limits import QuotaName

# One statement, for speed: the review and the outbox row that promotes its interaction, stored together or not at all.
RECORD_REVIEW = PreparedStatement(
    "record_review",
    f"""
    WITH recorded AS (
        INSERT INTO reviews (environment_id, interaction_id, id, outcome, note, created_at)
        VALUES (:environment_id, :interaction_id, :id, :outcome, :note, :created_at::timestamptz)
        ON CONFLICT (environment_id, interaction_id) DO NOTHING
        RETURNING environment_id, interaction_id, created_at
    ), outbox AS ({promotion_outbox("recorded", "review")})
    SELECT 1 FROM recorded
    """,
)


class StoredReview(NamedTuple):
    """A review as it is stored."""

    id: uuid.UUID
    interaction_id: uuid.UUID
    outcome: str
    note: str
    created_at: datetime

    @property
    def source(self) -> str:
        """The kind of credential that sent the review: always a capability."""
        return "capability"


FIND_REVIEW = PreparedStatement(
    "find_review",
    """
    SELECT id, interaction_id, outcome, note, created_at FROM reviews
    WHERE environment_id = :environment_id AND interaction_id = :interaction_id
    """,
    row=StoredReview,
)


@dataclass(frozen=True, slots=True)
class AcceptedOutcome:
    """The answer to a submission."""

    interaction_id: uuid.UUID
    review: StoredReview
    accepted: bool = True


@dataclass(frozen=True, slots=True)
class OutcomePreview:
    """What a submission would come to."""

    interaction_id: uuid.UUID
    would_be_stored: bool
    review: StoredReview


def record(environment: CallerEnvironment, capability: Capability, outcome: Outcome) -> AcceptedOutcome:
    """Store a review and notify the promotion of its interaction; the first review stays."""
    review = _new_review(environment, capability, outcome)
    with limiter().use_quota(QuotaName.REVIEWS, environment.id):
        is_first = RECORD_REVIEW.first(environment_id=environment.id, **review._asdict())
    if is_first:
        notify(Job.PROMOTE_INTERACTIONS)
        return AcceptedOutcome(capability.interaction_id, review)
    limiter().return_quota(QuotaName.REVIEWS, environment.id)
    # The statement waited for the one that was first, so that one is committed and seen by a new statement.
    return find_accepted_outcome(environment, capability) or record(environment, capability, outcome)


def preview(environment: CallerEnvironment, capability: Capability, outcome: Outcome) -> OutcomePreview:
    """Return what a submission would come to, and store nothing."""
    review = _new_review(environment, capability, outcome)
    accepted_outcome = find_accepted_outcome(environment, capability)
    return OutcomePreview(
        capability.interaction_id, accepted_outcome is None, accepted_outcome.review if accepted_outcome else review
    )


def _new_review(environment: CallerEnvironment, capability: Capability, outcome: Outcome) -> StoredReview:
    """Return the review of a submission that may be stored, or raise."""
    reject_private([("/note", outcome.note)])
    consent.require_approval(environment, capability)
    return StoredReview(uuid.uuid4(), capability.interaction_id, outcome.outcome, outcome.note, clock.now())


def find_accepted_outcome(environment: CallerEnvironment, capability: Capability) -> AcceptedOutcome | None:
    """Return the answer with the stored review of an interaction, or None."""
    review = FIND_REVIEW.first(environment_id=environment.id, interaction_id=capability.interaction_id)
    return AcceptedOutcome(capability.interaction_id, review) if review else None
