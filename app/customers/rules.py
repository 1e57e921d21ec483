"""References, levels of identity, purposes and choices."""

import hmac
import uuid
from enum import StrEnum
from typing import NamedTuple


class Purpose(StrEnum):
    """What an answer may be used for. No permission and no signal of one purpose is good for the other."""

    PRODUCT_PERSONALIZATION = "product_personalization"
    TARGETED_ADVERTISING = "targeted_advertising"


class Level(StrEnum):
    """How well a customer is known."""

    VERIFIED = "verified"
    PSEUDONYMOUS = "pseudonymous"
    EPHEMERAL = "ephemeral"


class Kind(StrEnum):
    """What a reference names."""

    ACCOUNT = "account"
    USER = "user"
    ANONYMOUS = "anonymous"


APPROVED = "approved"
DECLINED = "declined"
CHOICES = (APPROVED, DECLINED)

PURPOSES = tuple(map(str, Purpose))
KINDS = tuple(map(str, Kind))
LEVELS = tuple(map(str, Level))

NO_ACCOUNT = b""
"""The scope of a user whose account nobody has told yet."""


class References(NamedTuple):
    """A customer's references as keyed digests; the texts themselves are never kept."""

    account: bytes | None
    user: bytes | None
    anonymous: bytes | None

    @property
    def level(self) -> Level:
        """How well these references know a customer."""
        if self.account or self.user:
            return Level.VERIFIED
        return Level.PSEUDONYMOUS if self.anonymous else Level.EPHEMERAL


def digest_references(
    pepper: bytes, product_id: uuid.UUID, account: str | None, user: str | None, anonymous: str | None
) -> References:
    """Return what is kept of references: HMAC-SHA256 under a key of the product's own.

    So the same customer of two products cannot be joined, nor guessed by who has only the database.
    """
    key = hmac.digest(pepper, f"customer-references:{product_id}".encode(), "sha256")

    def keep(kind: Kind, text: str | None) -> bytes | None:
        return None if text is None else hmac.digest(key, f"{kind}:{text}".encode(), "sha256")

    return References(keep(Kind.ACCOUNT, account), keep(Kind.USER, user), keep(Kind.ANONYMOUS, anonymous))
