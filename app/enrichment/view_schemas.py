"""marshmallow schemas of nested objects in responses: catalog entries, constraints, actions and context items."""

import marshmallow
from marshmallow import fields

from app.catalog.schemas import CatalogEntrySchema
from app.consent.schemas import ActionSchema
from app.core.wire.fields import Choice, Flag, Instant
from app.core.wire.schemas import Schema
from app.customers.rules import PURPOSES
from app.enrichment.rules import PROVENANCES


class CatalogVersionSchema(marshmallow.Schema):
    """The version of the catalog that a request was made from."""

    version = fields.String(required=True)
    hash = fields.String(required=True, metadata={"description": "SHA-256 of the entries, in hexadecimal."})


class RetentionSchema(marshmallow.Schema):
    """How long an answer is kept."""

    rememberAllowed = fields.Boolean(required=True)
    rememberSelected = fields.Boolean(required=True)
    rememberedMaxDays = fields.Integer(required=True)
    unrememberedExpiresAt = fields.AwareDateTime(required=True, allow_none=True)


class ConstraintsSchema(marshmallow.Schema):
    """The owner, the purpose, the catalog, the allowed fields and the retention of a request."""

    handlerOwner = fields.String(required=True)
    purpose = fields.String(required=True, metadata={"enum": list(PURPOSES)})
    catalog = fields.Nested(CatalogVersionSchema, required=True)
    allowedFields = fields.List(fields.String(), required=True)
    retention = fields.Nested(RetentionSchema, required=True)


class ChoiceBodySchema(marshmallow.Schema):
    """The allowed values of a choice."""

    decision = fields.List(fields.String(), required=True)


class ItemBoundsSchema(marshmallow.Schema):
    """The bounds of the items of an answer."""

    maximum = fields.Integer(required=True)
    required = fields.List(fields.String(), required=True)
    type = fields.List(fields.String(), required=True)
    provenance = fields.List(fields.String(), required=True)
    catalogVersion = fields.String(required=True)
    catalog = fields.List(fields.Nested(CatalogEntrySchema), required=True)


class AnswerBodySchema(marshmallow.Schema):
    """The allowed values and bounds of an answer."""

    status = fields.List(fields.String(), required=True)
    items = fields.Nested(ItemBoundsSchema, required=True)
    catalog = fields.List(fields.Nested(CatalogEntrySchema), required=True)


class ChoiceActionSchema(ActionSchema):
    """How the user's choice is sent."""

    bodySchema = fields.Nested(ChoiceBodySchema, required=True)


class AnswerActionSchema(ActionSchema):
    """How an answer is sent."""

    bodySchema = fields.Nested(AnswerBodySchema, required=True)


CONTEXT_ITEM_EXAMPLE = {
    "signalId": "c1d2e3f4-0516-4278-9a3b-4c5d6e7f8091",
    "key": "shoes.size",
    "type": "constraint",
    "value": "size_42",
    "summary": "Shoe size: size 42",
    "provenance": "agent_reports_user_statement",
    "confidence": None,
    "allowedUses": ["product_personalization"],
    "remembered": True,
    "expiresAt": "2026-04-30T12:00:00Z",
}


class ContextItemSchema(Schema):
    """A signal, as a retrieval returns it."""

    signal_id = fields.UUID(required=True)
    key = fields.String(required=True)
    type = fields.String(required=True, metadata={"description": "The category as the product wrote it."})
    value = fields.String(required=True)
    summary = fields.String(required=True)
    provenance = Choice(PROVENANCES, required=True)
    confidence = fields.Float(required=True, allow_none=True)
    allowed_uses = fields.List(fields.String(metadata={"enum": list(PURPOSES)}), required=True)
    remembered = Flag(required=True)
    expires_at = Instant(required=True)
