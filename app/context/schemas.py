"""marshmallow schemas of retrievals."""

from marshmallow import fields

from app.context.rules import MAX_ITEMS
from app.core.wire.fields import Choice, Identifier
from app.core.wire.schemas import List, Nested, Payload, Schema
from app.customers.rules import LEVELS, PURPOSES
from app.enrichment.schemas import reference
from app.enrichment.view_schemas import CONTEXT_ITEM_EXAMPLE, ContextItemSchema


class ContextQuery(Payload, frozen=True):
    """The customer or interaction whose context is retrieved."""

    purpose: str
    user_ref: str | None = None
    account_ref: str | None = None
    anonymous_ref: str | None = None
    interaction_id: str | None = None


class ContextQuerySchema(Schema):
    """A customer's references, the interaction that was answered in, or both."""

    loads_into = ContextQuery
    example = {"purpose": "product_personalization", "userRef": "user_17"}

    purpose = Choice(PURPOSES, required=True)
    user_ref = reference()
    account_ref = reference()
    anonymous_ref = reference()
    interaction_id = Identifier()


class RetrievalSchema(Schema):
    """The signals that may be used for this purpose now."""

    example = {
        "retrievalId": "7e1c9a52-3b4d-4f60-8a71-92c3d4e5f607",
        "identityLevel": "verified",
        "contextVersion": "3f2a9c",
        "interactionId": None,
        "items": [CONTEXT_ITEM_EXAMPLE],
    }

    retrieval_id = fields.UUID(required=True)
    identity_level = Choice(LEVELS, required=True)
    context_version = fields.String(required=True, metadata={"description": "Stays the same while the items do."})
    interaction_id = fields.UUID(required=True, allow_none=True)
    items = List(Nested(ContextItemSchema), max_length=MAX_ITEMS, required=True)
