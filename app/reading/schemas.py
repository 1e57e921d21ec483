"""marshmallow schemas of the read API."""

from datetime import datetime

from marshmallow import fields

from app.core.database.pages import Order
from app.core.wire.fields import Choice, Instant, Integer, Text
from app.core.wire.schemas import Nested, Payload, Schema
from app.interactions.rules import CLASSIFICATIONS, MAX_OPERATION_LENGTH, SURFACES, UNKNOWN_SURFACE
from app.interactions.schemas import InteractionItemSchema
from app.outcomes.rules import OUTCOMES
from app.outcomes.schemas import ReviewItemSchema
from app.reading.rules import CURSOR_PATTERN, DEFAULT_LIMIT, MAX_CURSOR_LENGTH, MAX_LIMIT
from app.reports.rules import IMPACTS
from app.reports.schemas import ReportItemSchema
from app.summaries.rules import DEFAULT_DAYS, MAX_DAYS, Sort
from app.summaries.schemas import OperationItemSchema


class ListQuery(Payload, frozen=True):
    """The members of every query of a list."""

    limit: int = DEFAULT_LIMIT
    cursor: str | None = None


class TimeQuery(ListQuery, frozen=True):
    """The query of a list by time."""

    since: datetime | None = None
    until: datetime | None = None
    order: Order = Order.NEWEST
    operation: str | None = None
    surface: str | None = None


class ReviewQuery(TimeQuery, frozen=True):
    """The query of reviews."""

    outcome: str | None = None


class ReportQuery(TimeQuery, frozen=True):
    """The query of reports."""

    impact: str | None = None


class InteractionQuery(TimeQuery, frozen=True):
    """The query of interactions."""

    classification: str | None = None


class OperationQuery(ListQuery, frozen=True):
    """The query of operations."""

    days: int = DEFAULT_DAYS
    sort: Sort = Sort.INTERACTIONS
    surface: str | None = None


class OrderChoice(Choice):
    """The order of a list by time."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Order:
        return Order(super()._deserialize(value, attr, data, **kwargs))


class SortChoice(Choice):
    """The order of operations."""

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Sort:
        return Sort(super()._deserialize(value, attr, data, **kwargs))


def _cursor() -> Text:
    return Text(
        max_length=MAX_CURSOR_LENGTH,
        pattern=CURSOR_PATTERN,
        metadata={"description": "The `nextCursor` of a page, with the same filters; without one the first page."},
    )


class ListQuerySchema(Schema):
    """How many items, and behind which."""

    limit = Integer(minimum=1, maximum=MAX_LIMIT, load_default=DEFAULT_LIMIT)
    cursor = _cursor()


class TimeQuerySchema(ListQuerySchema):
    """Which items, by time and operation."""

    since = Instant(metadata={"description": "No earlier than this; included."})
    until = Instant(metadata={"description": "Earlier than this; not included."})
    order = OrderChoice(
        tuple(Order),
        load_default=Order.NEWEST,
        metadata={
            "description": "`oldest` is for copying: it ends a few seconds ago, before what may still be on its way, "
            "so that nothing appears later in front of a page."
        },
    )
    operation = Text(max_length=MAX_OPERATION_LENGTH, metadata={"example": "/orders/:id"})
    surface = Choice((*SURFACES, UNKNOWN_SURFACE))


class ReviewQuerySchema(TimeQuerySchema):
    """Which reviews."""

    loads_into = ReviewQuery

    outcome = Choice(OUTCOMES)


class ReportQuerySchema(TimeQuerySchema):
    """Which reports."""

    loads_into = ReportQuery

    impact = Choice(IMPACTS)


class InteractionQuerySchema(TimeQuerySchema):
    """Which interactions."""

    loads_into = InteractionQuery

    classification = Choice(CLASSIFICATIONS)


class OperationQuerySchema(ListQuerySchema):
    """Which operations, and in which order."""

    loads_into = OperationQuery

    days = Integer(
        minimum=1,
        maximum=MAX_DAYS,
        load_default=DEFAULT_DAYS,
        metadata={"description": "Whole UTC days ending today, no more than the environment keeps."},
    )
    sort = SortChoice(
        tuple(Sort),
        load_default=Sort.INTERACTIONS,
        metadata={
            "description": "`worst`: by the lower bound of the share of failures (a partial success is half a one) "
            "at 95 % confidence, so that one failure in one review does not come before ninety in a hundred."
        },
    )
    surface = Choice((*SURFACES, UNKNOWN_SURFACE))


class PageSchema(Schema):
    """A page of a list."""

    next_cursor = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Where the next page begins, also behind a page with few items or none; null at the end."
        },
    )


class ReviewPageSchema(PageSchema):
    """A page of reviews."""

    items = fields.List(fields.Nested(ReviewItemSchema), required=True)


class ReportPageSchema(PageSchema):
    """A page of reports."""

    items = fields.List(fields.Nested(ReportItemSchema), required=True)


class InteractionPageSchema(PageSchema):
    """A page of interactions."""

    items = fields.List(fields.Nested(InteractionItemSchema), required=True)


class OperationPageSchema(PageSchema):
    """A page of operations."""

    items = fields.List(fields.Nested(OperationItemSchema), required=True)


class ReportDetailSchema(Schema):
    """A report with its interaction, which is null until a job has inserted it."""

    report = Nested(ReportItemSchema, required=True)
    interaction = Nested(InteractionItemSchema, required=True, is_nullable=True)


class InteractionDetailSchema(Schema):
    """An interaction with its review and report."""

    interaction = Nested(InteractionItemSchema, required=True)
    review = Nested(ReviewItemSchema, required=True, is_nullable=True)
    report = Nested(ReportItemSchema, required=True, is_nullable=True)
