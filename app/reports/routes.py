"""HTTP endpoints of reports."""

from app.core.http.blueprint import Blueprint
from app.reports import service
from app.reports.schemas import AcceptedReportSchema, ReportPreviewSchema, ReportSchema, SubmittedReport
from app.reports.service import AcceptedReport, ReportPreview
from app.tokens.guards import current_capability, current_environment

blp = Blueprint("reports", __name__, description="Findings, sent by the customer's agent.")
previews = Blueprint("report_previews", __name__, description="What a report would be stored as.")


@blp.post("/reports", operation_id="submitReport")
@blp.arguments(ReportSchema, invalid_status=400)
@blp.response(200, AcceptedReportSchema, errors=(403, 410))
def record(report: SubmittedReport) -> AcceptedReport:
    """Record the report of one product response.

    The first report stays; every later submission gets it back. Every bound is published in the envelope's
    `reportSchema`; breaking one is a 400.
    """
    return service.record(current_environment(), current_capability(), report)


@blp.fallback(AcceptedReportSchema)
def find() -> AcceptedReport | None:
    """Answer an invalid request with the report that is stored already, if there is one."""
    return service.find_accepted_report(current_environment(), current_capability())


@previews.post("/reports/preview", operation_id="previewReport")
@previews.arguments(ReportSchema, invalid_status=400)
@previews.response(200, ReportPreviewSchema, errors=(403, 410))
def preview(report: SubmittedReport) -> ReportPreview:
    """Return what a report would be stored as, and store nothing.

    The body is validated and screened exactly as when it is sent, so an agent can show a person what would leave.
    """
    return service.preview(current_environment(), current_capability(), report)
