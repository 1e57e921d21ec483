"""Schemas of discovery."""

import marshmallow
from marshmallow import fields

from app.consent.schemas import ReportBoundsSchema


class EndpointSchema(marshmallow.Schema):
    """An endpoint and how to use it."""

    url = fields.Url(required=True)
    authentication = fields.String(required=True)


class TelemetrySchema(EndpointSchema):
    """Where telemetry goes."""

    delivery = fields.String(required=True)


class RequiredFieldsSchema(marshmallow.Schema):
    """The required members of a review."""

    outcome = fields.List(fields.String(), required=True)
    note = fields.String(required=True)


class OutcomeSubmissionSchema(EndpointSchema):
    """Where reviews go."""

    requiredFields = fields.Nested(RequiredFieldsSchema, required=True)


class FeedbackSubmissionSchema(EndpointSchema):
    """Where reports and decisions go."""

    capabilityInspectionUrl = fields.Url(required=True)
    consentDecisionUrl = fields.Url(required=True)
    consentStateUrl = fields.Url(required=True)
    requiredFields = fields.List(fields.String(), required=True)
    optionalFields = fields.List(fields.String(), required=True)
    reportSchema = fields.Nested(ReportBoundsSchema, required=True)


class BySurfaceSchema(marshmallow.Schema):
    """One sentence for each surface."""

    http = fields.String(required=True)
    mcp = fields.String(required=True)


class IntegrationsSchema(marshmallow.Schema):
    """The download URLs of the SDKs."""

    node = fields.Url(required=True)
    python = fields.Url(required=True)
    go = fields.Url(required=True)
    rust = fields.Url(required=True)
    protocol = fields.Url(required=True)


class DiscoverySchema(marshmallow.Schema):
    """The discovery document of protocol version 1."""

    name = fields.String(required=True)
    version = fields.Integer(required=True)
    purpose = fields.String(required=True)
    telemetry = fields.Nested(TelemetrySchema, required=True)
    outcomeSubmission = fields.Nested(OutcomeSubmissionSchema, required=True)
    feedbackSubmission = fields.Nested(FeedbackSubmissionSchema, required=True)
    classification = fields.Nested(BySurfaceSchema, required=True)
    integrations = fields.Nested(IntegrationsSchema, required=True)
    reliability = fields.Nested(BySurfaceSchema, required=True)
    identity = fields.String(required=True)
    privacy = fields.String(required=True)


class DeprecatedDiscoverySchema(marshmallow.Schema):
    """The document at the deprecated address."""

    name = fields.String(required=True)
    version = fields.Integer(required=True)
    deprecated = fields.Boolean(required=True)
    writesEnabled = fields.Boolean(required=True)
    replacement = fields.Url(required=True)


class ManifestSchema(marshmallow.Schema):
    """The SHA-256 sum of each download, in hexadecimal."""

    files = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
