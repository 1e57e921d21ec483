"""marshmallow schemas of consent."""

import marshmallow
from marshmallow import fields

from app.consent.rules import DECISIONS, Basis, State
from app.core.wire.fields import Choice, Flag, Identifier, Instant, Text
from app.core.wire.schemas import List, Payload, Schema
from app.products.rules import Mode

SUBJECT_PATTERN = "^afsub1_[A-Za-z0-9_-]{43}$"
MAX_SUBJECTS = 50


class Decision(Payload, frozen=True):
    """The user's decision."""

    decision: str


class DecisionSchema(Schema):
    """The body that submits the user's decision."""

    loads_into = Decision
    example = {"decision": "approved"}

    decision = Choice(DECISIONS, required=True)


class ReportBoundsSchema(marshmallow.Schema):
    """The bounds of a report, as envelopes and the discovery document publish them."""

    required = fields.List(fields.String(), required=True)
    optional = fields.List(fields.String(), required=True)
    impacts = fields.List(fields.String(), required=True)
    findingKinds = fields.List(fields.String(), required=True)
    findingSeverities = fields.List(fields.String(), required=True)
    confidenceRange = fields.List(fields.Integer(), required=True)
    summaryMinLength = fields.Integer(required=True)
    summaryMaxLength = fields.Integer(required=True)
    findingRequired = fields.List(fields.String(), required=True)
    findingOptional = fields.List(fields.String(), required=True)
    findingTopicFormat = fields.String(required=True)
    findingDetailMinLength = fields.Integer(required=True)
    findingDetailMaxLength = fields.Integer(required=True)
    workaroundRequired = fields.List(fields.String(), required=True)
    workaroundOptional = fields.List(fields.String(), required=True)
    workaroundDetailMinLength = fields.Integer(required=True)
    workaroundDetailMaxLength = fields.Integer(required=True)
    maxFindings = fields.Integer(required=True)


class ActionSchema(marshmallow.Schema):
    """A request that the agent may send."""

    url = fields.Url(required=True)
    method = fields.String(required=True)
    authorization = fields.String(required=True, metadata={"description": "The header, credential included."})
    contentType = fields.String(required=True)


class NoteBoundsSchema(marshmallow.Schema):
    """How long a review's note is, in characters."""

    minLength = fields.Integer(required=True)
    maxLength = fields.Integer(required=True)


class OutcomeBodySchema(marshmallow.Schema):
    """The allowed values of a review."""

    outcome = fields.List(fields.String(), required=True)
    note = fields.Nested(NoteBoundsSchema, required=True)


class SubmitOutcomeSchema(ActionSchema):
    """The action that sends a review."""

    bodySchema = fields.Nested(OutcomeBodySchema, required=True)


class SubmitReportSchema(ActionSchema):
    """The action that sends a report."""

    reportSchema = fields.Nested(ReportBoundsSchema, required=True)


class FeedbackContractSchema(marshmallow.Schema):
    """The envelope of the state `feedback_ready`."""

    v = fields.Integer(required=True)
    mode = fields.String(required=True)
    state = fields.String(required=True)
    requested = fields.Boolean(required=True)
    consentRequired = fields.Boolean(required=True)
    consentPolicy = fields.String(required=True)
    configuredMode = fields.String()
    consentManagedBy = fields.String()
    when = fields.String(required=True)
    reliability = fields.String(required=True)
    instruction = fields.String(required=True)
    privacy = fields.String(required=True)
    expiresAt = Instant(required=True)
    submitOutcome = fields.Nested(SubmitOutcomeSchema, required=True)
    submit = fields.Nested(SubmitReportSchema, required=True)


class DecisionResultSchema(Schema):
    """The state after a decision."""

    example = {"state": "declined", "decidedAt": "2026-01-31T12:00:00Z", "changed": True, "feedback": None}

    state = Choice([str(state) for state in State], required=True)
    decided_at = fields.AwareDateTime(required=True, allow_none=True)
    changed = Flag(required=True)
    feedback = fields.Nested(FeedbackContractSchema, required=True, allow_none=True)


class IntrospectionSchema(Schema):
    """The authoritative state of a capability."""

    example = {
        "state": "consent_required",
        "configuredMode": "ask_once",
        "consentPolicy": "once",
        "productName": "Example product",
        "canonicalQuestion": "May I send this product's provider one short outcome report?",
        "expiresAt": "2026-01-31T12:00:00Z",
        "submit": None,
    }

    state = Choice([str(state) for state in State], required=True)
    configured_mode = Choice([str(mode) for mode in Mode], required=True)
    consent_policy = Choice([str(basis) for basis in Basis], required=True)
    product_name = fields.String(required=True)
    canonical_question = fields.String(required=True, allow_none=True)
    expires_at = Instant(required=True)
    submit = fields.Nested(SubmitReportSchema, required=True, allow_none=True)


class Subjects(Payload, frozen=True):
    """The subjects of a query: one, or several."""

    subject: str | None = None
    subjects: list[str] | None = None


class SubjectsSchema(Schema):
    """A query of one subject or of up to fifty."""

    loads_into = Subjects
    example = {"subjects": ["afsub1_Zk3pQ9vT1mX7cR5yB2nL8wH4dF6gJ0sA-uE_iO3kPqY"]}

    subject = Text(min_length=50, max_length=50, pattern=SUBJECT_PATTERN)
    subjects = List(Text(min_length=50, max_length=50, pattern=SUBJECT_PATTERN), min_length=1, max_length=MAX_SUBJECTS)


class SubjectSchema(marshmallow.Schema):
    """The remembered decision of one subject."""

    subject = fields.String(required=True)
    state = fields.String(required=True, metadata={"enum": ["unknown", *DECISIONS]})
    revision = fields.Integer(required=True)


class SubjectStateSchema(marshmallow.Schema):
    """The remembered decision of one subject, or of each of several."""

    example = {
        "subjects": [
            {"subject": "afsub1_Zk3pQ9vT1mX7cR5yB2nL8wH4dF6gJ0sA-uE_iO3kPqY", "state": "approved", "revision": 1}
        ]
    }

    state = fields.String(metadata={"enum": ["unknown", *DECISIONS]})
    revision = fields.Integer()
    subjects = fields.List(fields.Nested(SubjectSchema))


class ConsentDecisionItemSchema(Schema):
    """A recorded decision; `subject` is null where it is about a single use."""

    interaction_id = Identifier(required=True)
    subject = fields.String(required=True, allow_none=True)
    decision = Choice(DECISIONS, required=True)
    revision = fields.Integer(required=True, allow_none=True)
    question = fields.String(required=True)
    decided_at = Instant(required=True)
