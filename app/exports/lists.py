"""The lists of an export: what the read API shows, and what it does not."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from app.consent.queries import CONSENT_DECISIONS
from app.consent.schemas import ConsentDecisionItemSchema
from app.core.database.pages import PagedTable
from app.core.wire.schemas import Schema
from app.evidence.schemas import EvidenceCountItemSchema
from app.interactions.queries import INTERACTIONS
from app.interactions.schemas import InteractionItemSchema
from app.outcomes.queries import REVIEW_PAGES
from app.outcomes.schemas import ReviewItemSchema
from app.personalization.queries import DECISIONS, OUTCOMES
from app.personalization.schemas import StoredDecisionSchema, StoredOutcomeSchema
from app.reading.service import interactions_settled_until, settled_until
from app.reports.queries import REPORT_PAGES
from app.reports.schemas import ReportItemSchema


@dataclass(frozen=True, slots=True)
class ExportedList:
    """A list by time, each item of which is exported once."""

    name: str
    table: PagedTable[Any]
    schema: type[Schema]
    is_of_product: bool = False
    """Whether the product has the list, and not the environment."""
    has_retention: bool = True
    settled_until: Callable[[uuid.UUID], datetime] = settled_until
    """The instant before which no further item becomes visible, by environment."""


LISTS = (
    ExportedList("interactions", INTERACTIONS, InteractionItemSchema, settled_until=interactions_settled_until),
    ExportedList("reviews", REVIEW_PAGES, ReviewItemSchema),
    ExportedList("reports", REPORT_PAGES, ReportItemSchema),
    ExportedList("consent_decisions", CONSENT_DECISIONS, ConsentDecisionItemSchema, has_retention=False),
    ExportedList("decisions", DECISIONS, StoredDecisionSchema, is_of_product=True, has_retention=False),
    ExportedList("outcomes", OUTCOMES, StoredOutcomeSchema, is_of_product=True, has_retention=False),
)

EVIDENCE_COUNTS = "evidence_counts"
EVIDENCE_SCHEMA = EvidenceCountItemSchema
"""Counts change, so their file is written anew by each run."""
