"""The wire shapes of signing in."""

from marshmallow import fields

from app.accounts.rules import MAX_EMAIL_LENGTH, ROLES
from app.core.wire.fields import Choice, Text
from app.core.wire.schemas import Nested, Payload, Schema

LONGEST_PASSWORD = 200


class Credentials(Payload, frozen=True):
    """What somebody signs in with."""

    email: str
    password: str


class CredentialsSchema(Schema):
    """What somebody signs in with."""

    loads_into = Credentials

    # Whether it is an address does not matter here: nobody has one that is not.
    email = Text(max_length=MAX_EMAIL_LENGTH, required=True)
    password = Text(max_length=LONGEST_PASSWORD, required=True, metadata={"format": "password"})


class LoginUserSchema(Schema):
    """Who is signed in."""

    id = fields.UUID(required=True)
    email = fields.String(required=True)
    role = Choice(ROLES, required=True)


class LoginWorkspaceSchema(Schema):
    """Where they are signed in."""

    id = fields.UUID(required=True)
    name = fields.String(required=True)


class LoginSchema(Schema):
    """Who is signed in, and where."""

    user = Nested(LoginUserSchema, required=True)
    workspace = Nested(LoginWorkspaceSchema, required=True)
