"""marshmallow schemas of health."""

import marshmallow
from marshmallow import fields


class AliveSchema(marshmallow.Schema):
    """The process answers."""

    status = fields.Constant("alive", required=True)


class ProcessSchema(marshmallow.Schema):
    """A background process."""

    running = fields.Boolean(required=True, metadata={"description": "Whether it was seen lately."})
    lastSeenAt = fields.AwareDateTime(required=True, allow_none=True)


class ReadySchema(marshmallow.Schema):
    """What the service needs, and whether it is there."""

    status = fields.String(required=True, metadata={"enum": ["ready", "not_ready"]})
    database = fields.Boolean(required=True)
    migrations = fields.Boolean(required=True, metadata={"description": "Whether all of this release's have run."})
    broker = fields.Boolean(
        required=True, metadata={"description": "Without it everything is still accepted, and visible later."}
    )
    worker = fields.Nested(
        ProcessSchema, required=True, allow_none=True, metadata={"description": "Does not decide the status."}
    )
    beat = fields.Nested(
        ProcessSchema, required=True, allow_none=True, metadata={"description": "Does not decide the status."}
    )
    error = fields.String(metadata={"description": "What is missing, in a sentence; only with 503."})
    warning = fields.String(metadata={"description": "Which background process is silent, in a sentence."})
