"""The key that opens customer context; it stays with the company."""

import hashlib
import hmac
import re

_KEY = re.compile(r"(af_(?:company|live)_[0-9a-f]{32})_[!-~]{20,200}\Z")


class CompanyKey:
    """A company key that does not show itself when printed; a product key with the right `company` is one too."""

    __slots__ = ("_public", "_secret", "_text")

    def __init__(self, text: str) -> None:
        match = _KEY.match(text)
        if match is None:
            raise ValueError("a company key looks like af_company_<32 hex digits>_<secret>")
        self._public = match[1]
        self._text = text
        # Of its own kind: what is signed with it is worth nothing anywhere else.
        self._secret = hashlib.sha256(f"service-context-interaction:{text}".encode()).digest()

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def sign(self, text: bytes) -> bytes:
        """Return a signature that only holders of this key can make."""
        return hmac.new(self._secret, text, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"CompanyKey({self._public}_…)"

    __str__ = __repr__
