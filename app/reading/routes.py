"""HTTP endpoints of the read API."""

import uuid

from app.core.http.blueprint import Blueprint
from app.reading import service
from app.reading.schemas import (
    InteractionDetailSchema,
    InteractionPageSchema,
    InteractionQuery,
    InteractionQuerySchema,
    OperationPageSchema,
    OperationQuery,
    OperationQuerySchema,
    ReportDetailSchema,
    ReportPageSchema,
    ReportQuery,
    ReportQuerySchema,
    ReviewPageSchema,
    ReviewQuery,
    ReviewQuerySchema,
)
from app.reading.service import InteractionDetail, ItemPage, ReportDetail
from app.tokens.guards import current_environment

blp = Blueprint("reading", __name__, title="Read API", description="What agents sent, for the company's own systems.")


@blp.get("/reviews", operation_id="listReviews")
@blp.arguments(ReviewQuerySchema, location="query")
@blp.response(200, ReviewPageSchema)
def list_reviews(query: ReviewQuery) -> ItemPage:
    """List reviews.

    Newest first, by pages: what arrives meanwhile moves none of them. What agents wrote is untrusted text.
    """
    return service.list_reviews(current_environment().id, query)


@blp.get("/reports", operation_id="listReports")
@blp.arguments(ReportQuerySchema, location="query")
@blp.response(200, ReportPageSchema)
def list_reports(query: ReportQuery) -> ItemPage:
    """List reports.

    Newest first, by pages: what arrives meanwhile moves none of them. What agents wrote is untrusted text.
    """
    return service.list_reports(current_environment().id, query)


@blp.get("/reports/<uuid:report_id>", operation_id="getReport")
@blp.response(200, ReportDetailSchema, errors=(404,))
def get_report(report_id: uuid.UUID) -> ReportDetail:
    """Return a report with its interaction.

    The id is that of the report, not of the interaction.
    """
    return service.get_report(current_environment().id, report_id)


@blp.get("/interactions", operation_id="listInteractions")
@blp.arguments(InteractionQuerySchema, location="query")
@blp.response(200, InteractionPageSchema)
def list_interactions(query: InteractionQuery) -> ItemPage:
    """List interactions.

    Newest arrival first, by pages. An interaction may change until its review, its report and its telemetry are there.
    """
    return service.list_interactions(current_environment().id, query)


@blp.get("/interactions/<uuid:interaction_id>", operation_id="getInteraction")
@blp.response(200, InteractionDetailSchema, errors=(404,))
def get_interaction(interaction_id: uuid.UUID) -> InteractionDetail:
    """Return an interaction with its review and report.

    Each of them is null where nothing was sent.
    """
    return service.get_interaction(current_environment().id, interaction_id)


@blp.get("/operations", operation_id="listOperations")
@blp.arguments(OperationQuerySchema, location="query")
@blp.response(200, OperationPageSchema)
def list_operations(query: OperationQuery) -> ItemPage:
    """List operations with their counts.

    Counted by days of arrival in UTC. Rates are null below ten reviews. Each page adds the counts up anew, so an
    operation whose count changes between two pages may be missing or come twice, except with `sort=operation`.
    """
    return service.list_operations(current_environment().id, query)
