"""Generate, hash and compare passwords (argon2id)."""

import secrets

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

_hasher = PasswordHasher()

# The hash of a discarded random password, computed with the same parameters as every other.
DUMMY_HASH = "$argon2id$v=19$m=65536,t=3,p=4$R6xd13CRM3D9AezUzQCOqA$CoX4iA03G2juJ3Hem5WUu0sckTA5T754bTSIBmml8wk"


def generate() -> str:
    """Return a random password of 96 bits."""
    return secrets.token_urlsafe(12)


def compute_hash(password: str) -> str:
    """Return the argon2id hash of a password, which is all that is stored of it."""
    return _hasher.hash(password)


def is_correct(stored_hash: str | None, password: str) -> bool:
    """Compare a password with a stored hash; without one, do the same work and return False."""
    try:
        _hasher.verify(stored_hash or DUMMY_HASH, password)
    except VerificationError:
        return False
    return stored_hash is not None
