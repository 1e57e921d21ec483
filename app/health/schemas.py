"""The wire shapes of health."""

import marshmallow
from marshmallow import fields


class AliveSchema(marshmallow.Schema):
    """The process answers."""

    status = fields.Constant("alive", required=True)


class ReadySchema(marshmallow.Schema):
    """What the service needs, and whether it is there."""

    status = fields.String(required=True, metadata={"enum": ["ready", "not_ready"]})
    database = fields.Boolean(required=True)
    migrations = fields.Boolean(required=True, metadata={"description": "Whether all of this release's have run."})
    broker = fields.Boolean(
        required=True, metadata={"description": "Without it everything is still accepted, and visible later."}
    )
