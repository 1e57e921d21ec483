"""What happened around an interaction, in order."""

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from app.consent.queries import ConsentDecisionItem
from app.dashboard.customer_context import CustomerContext
from app.reading.service import InteractionDetail

METHODS = {
    "mcp": "the call came by the product's own MCP server",
    "review": "an agent sent a review",
    "report": "an agent sent a report",
    "answer": "an agent answered a request for context",
}
"""What confirmed an interaction, in words."""


class Moment(NamedTuple):
    """Something that happened: a title, a text that somebody may have written, a badge, and a kind of page to go to."""

    at: datetime
    title: str
    text: str = ""
    badge: str = ""
    page: str = ""
    """`review` or `report`, where it has a page of feedback."""


def list_moments(
    detail: InteractionDetail, decision: ConsentDecisionItem | None, context: CustomerContext
) -> list[Moment]:
    """Return the moments of an interaction, oldest first."""
    moments = [*_telemetry(detail), *_feedback(detail), *_context(context)]
    if decision:
        text = f"To the question {decision.question}."
        moments.append(Moment(decision.decided_at, "Consent was decided", text, decision.decision))
    return sorted(moments, key=lambda moment: moment.at)


def _telemetry(detail: InteractionDetail) -> Iterator[Moment]:
    interaction = detail.interaction
    if interaction.occurred_at:
        yield Moment(interaction.occurred_at, "The product answered", "By the clock of its backend.")
    yield Moment(interaction.received_at, "It arrived here", "With telemetry, or what was sent before it.")
    if interaction.confirmed_at:
        reason = METHODS.get(interaction.confirmation_method or "", "an agent was heard")
        yield Moment(interaction.confirmed_at, "It was confirmed", f"Because {reason}.", interaction.classification)


def _feedback(detail: InteractionDetail) -> Iterator[Moment]:
    if detail.review:
        review = detail.review
        yield Moment(review.created_at, "An agent reviewed it", review.note, review.outcome, "review")
    if detail.report:
        report = detail.report
        yield Moment(report.created_at, "An agent reported on it", report.summary, report.impact or "", "report")


def _context(context: CustomerContext) -> Iterator[Moment]:
    if context.request:
        request = context.request
        fields = ", ".join(request.field_keys)
        text = f"For {request.purpose}: {fields}."
        yield Moment(request.created_at, "The company asked for context", text, request.state)
        if request.approved_at:
            yield Moment(request.approved_at, "The user approved the request")
    if context.closed_at:
        yield Moment(context.closed_at, "A request for context was closed", "Requests are kept for two hours.")
    for signal in context.signals:
        text = f"{signal.key}: {signal.value} ({signal.provenance})"
        yield Moment(signal.created_at, "An agent answered with context", text)
    for used in context.retrievals:
        text = f"For {used.retrieval.purpose}; signals: {len(used.retrieval.signal_ids)}."
        yield Moment(used.retrieval.created_at, "The company read this customer's context", text)
        for decision in used.decisions:
            text = f"Variant {decision.variant or 'none'}. Outcomes: {', '.join(decision.outcomes) or 'none yet'}."
            yield Moment(decision.created_at, f"The company decided ({decision.external_decision_id})", text)
