"""marshmallow schemas of the tools' arguments that the read API does not have."""

from app.core.wire.fields import Identifier, Integer
from app.core.wire.schemas import Payload, Schema
from app.reading.rules import MAX_LIMIT
from app.summaries.rules import DEFAULT_DAYS, MAX_DAYS

DEFAULT_WORST = 10


class WorstOperationsQuery(Payload, frozen=True):
    """How many operations, over how many days."""

    limit: int = DEFAULT_WORST
    days: int = DEFAULT_DAYS


class WorstOperationsQuerySchema(Schema):
    """How many operations, over how many days."""

    loads_into = WorstOperationsQuery

    limit = Integer(minimum=1, maximum=MAX_LIMIT, load_default=DEFAULT_WORST)
    days = Integer(
        minimum=1, maximum=MAX_DAYS, load_default=DEFAULT_DAYS, metadata={"description": "Whole UTC days ending today."}
    )


class ReportQuery(Payload, frozen=True):
    """Which report."""

    report_id: str


class ReportQuerySchema(Schema):
    """Which report."""

    loads_into = ReportQuery

    report_id = Identifier(required=True)
