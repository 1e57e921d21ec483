"""Encrypt secrets for storage."""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class Seal:
    """Encrypts secrets for storage: the first sealing secret encrypts, every one decrypts."""

    def __init__(self, secrets_: Sequence[str]) -> None:
        self._fernet = MultiFernet(
            [Fernet(base64.urlsafe_b64encode(hashlib.sha256(secret.encode()).digest())) for secret in secrets_]
        )

    def encrypt(self, secret: bytes) -> bytes:
        """Return a secret encrypted."""
        return self._fernet.encrypt(secret)

    def decrypt(self, sealed_secret: bytes) -> bytes:
        """Return a sealed secret, or raise `cryptography.fernet.InvalidToken`."""
        return self._fernet.decrypt(sealed_secret)

    def can_decrypt(self, sealed_secret: bytes) -> bool:
        """Tell whether one of the sealing secrets has sealed a secret."""
        try:
            self.decrypt(sealed_secret)
        except InvalidToken:
            return False
        return True
