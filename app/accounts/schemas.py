"""marshmallow schemas of login sessions."""

from marshmallow import fields

from app.accounts.rules import MAX_EMAIL_LENGTH, MAX_PASSWORD_LENGTH, ROLES
from app.core.wire.fields import Choice, Instant, Text
from app.core.wire.schemas import Nested, Payload, Schema

MAX_CODE_LENGTH = 40


class Credentials(Payload, frozen=True):
    """An e-mail address and a password, and a code where the user has a second factor."""

    email: str
    password: str
    code: str | None = None


class CredentialsSchema(Schema):
    """An e-mail address and a password, and a code where the user has a second factor."""

    loads_into = Credentials

    # Its form is not checked: no user has an address that is none, so signing in fails anyway.
    email = Text(max_length=MAX_EMAIL_LENGTH, required=True)
    password = Text(max_length=MAX_PASSWORD_LENGTH, required=True, metadata={"format": "password"})
    code = Text(
        max_length=MAX_CODE_LENGTH,
        metadata={
            "description": "The authenticator app's current code or a recovery code, for a user who has set them up."
        },
    )


class LoginUserSchema(Schema):
    """The signed-in user."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)
    role = Choice(ROLES, required=True)


class LoginWorkspaceSchema(Schema):
    """The workspace of the session."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)


class LoginSchema(Schema):
    """The signed-in user and the workspace."""

    user = Nested(LoginUserSchema, required=True)
    workspace = Nested(LoginWorkspaceSchema, required=True)


class AuditItemSchema(Schema):
    """An entry of the audit log, as a page exports it."""

    id = fields.Integer(required=True)
    at = Instant(required=True)
    actor = fields.String(required=True)
    actor_email = fields.String(required=True, allow_none=True)
    action = fields.String(required=True)
    subject = fields.String(required=True)
    details = fields.Dict(required=True)
