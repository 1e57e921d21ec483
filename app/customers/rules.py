"""References, levels of identity, purposes and choices."""

import hmac
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class ContextPurpose(StrEnum):
    """What an answer may be used for. A permission or signal of one purpose is never used for the other."""

    PRODUCT_PERSONALIZATION = "product_personalization"
    TARGETED_ADVERTISING = "targeted_advertising"


class Level(StrEnum):
    """How well a customer is identified: `identityLevel`."""

    VERIFIED = "verified"
    PSEUDONYMOUS = "pseudonymous"
    EPHEMERAL = "ephemeral"


class Kind(StrEnum):
    """The kind of a customer's reference."""

    ACCOUNT = "account"
    USER = "user"
    ANONYMOUS = "anonymous"


APPROVED = "approved"
DECLINED = "declined"
CHOICES = (APPROVED, DECLINED)

PURPOSES = tuple(map(str, ContextPurpose))
KINDS = tuple(map(str, Kind))
LEVELS = tuple(map(str, Level))

NO_ACCOUNT = b""
"""The scope of a user whose account was not sent yet."""


Digests = list[bytes]
"""The digests of one reference under each pepper, that of the newest first; a stored row has one of them."""


class References(NamedTuple):
    """A customer's references as keyed digests; the texts themselves are never stored."""

    account: Digests | None
    user: Digests | None
    anonymous: Digests | None

    @property
    def level(self) -> Level:
        """The level at which these references name a customer."""
        if self.account or self.user:
            return Level.VERIFIED
        return Level.PSEUDONYMOUS if self.anonymous else Level.EPHEMERAL


def digest_references(
    keys: Sequence[bytes], account: str | None, user: str | None, anonymous: str | None
) -> References:
    """Return the digests of references: HMAC-SHA256 under the product's own keys, of which each pepper has one.

    The same customer of two products cannot be joined, and no reference can be guessed from the database alone.
    """

    def digest(kind: Kind, text: str | None) -> Digests | None:
        return None if text is None else [hmac.digest(key, f"{kind}:{text}".encode(), "sha256") for key in keys]

    return References(digest(Kind.ACCOUNT, account), digest(Kind.USER, user), digest(Kind.ANONYMOUS, anonymous))
