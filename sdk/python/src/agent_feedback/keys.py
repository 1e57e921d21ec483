"""Product keys and company keys, which do not show their secret when printed."""

import base64
import hashlib
import hmac
import json
import re
from typing import Any, NoReturn, TypeVar

_PRODUCT_KEY = re.compile(r"af_live_([0-9a-f]{32})_([!-~]{20,200})\Z")
_COMPANY_KEY = re.compile(r"(af_(?:company|live)_[0-9a-f]{32})_[!-~]{20,200}\Z")
_SCOPE = re.compile(r"([0-9a-f]{32})_")

PRODUCT_KEY_FORM = "a product key looks like af_live_<32 hex digits>_<32 hex digits>_<secret>"
COMPANY_KEY_FORM = "a company key looks like af_company_<32 hex digits>_<secret>"

_encode = json.JSONEncoder(separators=(",", ":")).encode

K = TypeVar("K", bound="_Key")


class _Key:
    """A key, which shows its secret only to `reveal`; it cannot change, so that a copy is the key itself."""

    __slots__ = ("_text",)

    _text: str

    def reveal(self) -> str:
        """Return the key as text."""
        return self._text

    def __copy__(self: K) -> K:
        return self

    def __deepcopy__(self: K, _: dict[int, Any]) -> K:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not serialized, since that would show its secret")


class ProductKey(_Key):
    """A product key: authenticates telemetry and signs capabilities."""

    __slots__ = ("_mac", "id", "scope")

    def __init__(self, text: str) -> None:
        match = _PRODUCT_KEY.match(text)
        if match is None:
            raise ValueError(PRODUCT_KEY_FORM)
        self.id = match[1]
        scope = _SCOPE.match(match[2])
        self.scope = scope[1] if scope else self.id
        self._text = text
        # Copied for each signature: that is faster than to begin with the secret, and never lets another thread run.
        self._mac = hmac.new(hashlib.sha256(text.encode()).digest(), digestmod=hashlib.sha256)

    def sign(self, claims: dict[str, Any]) -> str:
        """Return the capability of these claims, in their order."""
        return self.sign_json(_encode(claims))

    def sign_json(self, claims: str) -> str:
        """Return the capability of claims that are compact JSON."""
        message = f"afr2_{self.id}.{base64url(claims.encode())}"
        mac = self._mac.copy()
        mac.update(message.encode())
        return f"{message}.{base64url(mac.digest())}"

    def __repr__(self) -> str:
        return f"ProductKey(af_live_{self.id}_…)"

    __str__ = __repr__


class CompanyKey(_Key):
    """A company key: authenticates customer context. A product key with the right `company` is one too."""

    __slots__ = ("_public_part", "_signing_secret")

    def __init__(self, text: str) -> None:
        match = _COMPANY_KEY.match(text)
        if match is None:
            raise ValueError(COMPANY_KEY_FORM)
        self._public_part = match[1]
        self._text = text
        # Derived for this purpose alone: such a signature is accepted nowhere else.
        self._signing_secret = hashlib.sha256(f"service-context-interaction:{text}".encode()).digest()

    def sign(self, message: bytes) -> bytes:
        """Return the HMAC-SHA256 of a message under a secret derived from this key."""
        return hmac.new(self._signing_secret, message, hashlib.sha256).digest()

    def __repr__(self) -> str:
        return f"CompanyKey({self._public_part}_…)"

    __str__ = __repr__


def base64url(raw: bytes) -> str:
    """Return base64url without padding."""
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
