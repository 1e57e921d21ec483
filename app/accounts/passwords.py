"""Passwords: how they are made, kept and compared."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

_hasher = PasswordHasher()

# Of a password that was forgotten at once, made with the same parameters.
NOBODYS_HASH = "$argon2id$v=19$m=65536,t=3,p=4$R6xd13CRM3D9AezUzQCOqA$CoX4iA03G2juJ3Hem5WUu0sckTA5T754bTSIBmml8wk"


def make() -> str:
    """Return a random password: 96 bits, which nobody guesses."""
    return secrets.token_urlsafe(12)


def keep(password: str) -> str:
    """Return what is stored of a password."""
    return _hasher.hash(password)


def is_right(kept: str | None, password: str) -> bool:
    """Compare a password with what is stored; where there is nothing, the same work is done for nobody."""
    try:
        _hasher.verify(kept or NOBODYS_HASH, password)
    except VerificationError:
        return False
    return kept is not None
