"""The wire shapes of signing in."""

from marshmallow import fields

from app.accounts.rules import LONGEST_EMAIL, ROLES
from app.core.fields import Choice, Text
from app.core.schema import One, Schema, Shape

LONGEST_PASSWORD = 200


class Credentials(Shape, frozen=True):
    """What somebody signs in with."""

    email: str
    password: str


class CredentialsSchema(Schema):
    """What somebody signs in with."""

    loads_as = Credentials

    # Whether it is an address does not matter here: nobody has one that is not.
    email = Text(max_length=LONGEST_EMAIL, required=True)
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

    user = One(LoginUserSchema(), required=True)
    workspace = One(LoginWorkspaceSchema(), required=True)
