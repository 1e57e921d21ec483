"""Time-based codes (RFC 6238) and recovery codes."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime

import pyotp

RECOVERY_CODE_COUNT = 10

_NEIGHBOURS = (-1, 0, 1)
"""The time steps of 30 seconds around the current one whose codes are valid: clocks differ, and typing takes time."""

_SEPARATORS = re.compile(r"[\s-]+")
_TOTP = re.compile(r"[0-9]{6}\Z")
_RECOVERY_CODE = re.compile(r"[0-9a-f]{20}\Z")


def new_secret() -> str:
    """Return a random secret of 160 bits in base32, as authenticator apps take it."""
    return pyotp.random_base32()


def enrolment_uri(secret: str, email: str, service_name: str) -> str:
    """Return the `otpauth:` URI that an authenticator app reads from a QR code."""
    return pyotp.TOTP(secret).provisioning_uri(name=email, issuer_name=service_name)


def canonical_code(text: str) -> str | None:
    """Return a code without the spaces and dashes that people type, or None if the text is no code."""
    code = _SEPARATORS.sub("", text).lower()
    return code if _TOTP.match(code) or _RECOVERY_CODE.match(code) else None


def matching_step(secret: str, code: str, now: datetime, last_step: int) -> int | None:
    """Return the time step that a code is valid for, or None. Only a step after the last accepted one counts."""
    totp = pyotp.TOTP(secret)
    current_step = totp.timecode(now)
    steps = [current_step + neighbour for neighbour in _NEIGHBOURS]
    matches = [step for step in steps if hmac.compare_digest(totp.generate_otp(step), code) and step > last_step]
    return matches[0] if matches else None


def new_recovery_codes() -> list[str]:
    """Return random codes of 80 bits each, in groups that are easy to type."""
    return [_grouped(secrets.token_hex(10)) for _ in range(RECOVERY_CODE_COUNT)]


def _grouped(text: str) -> str:
    return "-".join(text[start : start + 5] for start in range(0, len(text), 5))


def recovery_digest(code: str) -> bytes:
    """Return the stored digest of a recovery code in its canonical form; 80 random bits need no key."""
    return hashlib.sha256(code.encode()).digest()
