"""marshmallow schemas of counts."""

from marshmallow import fields

from app.core.wire.schemas import Schema


class OperationItemSchema(Schema):
    """The counts of an operation over the days of the query."""

    operation = fields.String(required=True)
    interactions = fields.Integer(required=True)
    confirmed = fields.Integer(required=True)
    reviews = fields.Integer(required=True)
    success = fields.Integer(required=True)
    partial_ = fields.Integer(required=True, attribute="partial")
    failure = fields.Integer(required=True)
    coverage = fields.Float(
        required=True, metadata={"description": "The share of interactions with a review.", "minimum": 0, "maximum": 1}
    )
    success_rate = fields.Float(
        required=True, allow_none=True, metadata={"description": "Of its reviews; null below ten."}
    )
    failure_rate = fields.Float(
        required=True, allow_none=True, metadata={"description": "Of its reviews; null below ten."}
    )
