"""marshmallow schemas of keys."""

from marshmallow import fields

from app.core.wire.fields import Choice, Flag, Instant
from app.core.wire.schemas import Schema
from app.products.rules import KeyKind, KeyState


class KeyItemSchema(Schema):
    """A key without its text, which is not stored."""

    key_id = fields.String(required=True, attribute="id")
    kind = Choice(tuple(map(str, KeyKind)), required=True)
    state = Choice(tuple(map(str, KeyState)), required=True)
    has_company_right = Flag(required=True)
    created_at = Instant(required=True)
    last_used_at = Instant(required=True, is_nullable=True)
    expires_at = Instant(required=True, is_nullable=True)
    revoked_at = Instant(required=True, is_nullable=True)
    refused_at = Instant(required=True, is_nullable=True)
    replaces_id = fields.String(required=True, allow_none=True)
