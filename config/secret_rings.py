"""Secrets, and the settings that hold several of them, so that each can be replaced while the service runs."""

from collections.abc import Iterator, Mapping

KEY_PEPPER, SEALING_KEYS = RINGS = ("AGENT_FEEDBACK_KEY_PEPPER", "AGENT_FEEDBACK_SEALING_KEYS")
"""Settings with secrets separated by commas, newest first."""

DEVELOPMENT_PREFIX = "development-"
"""Secrets that `bin/dev` makes begin with this, so that production can refuse them."""

MIN_SECRET_LENGTH = 32
MAKE_A_SECRET = 'make one with: python3 -c "import secrets; print(secrets.token_urlsafe(32))"'

MAX_RING_LENGTH = 5
"""What recognises a digest tries every secret of a ring."""


class Secret:
    """A string whose representation is hidden; `reveal` returns it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Return the text."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__


def read_ring(text: str) -> tuple[Secret, ...]:
    """Return the secrets of a setting, newest first."""
    return tuple(map(Secret, _split(text)))


def ring_errors(values: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the rings of any deployment; no error repeats a secret."""
    for name in RINGS:
        secrets = _split(values.get(name, "-"))
        if not secrets:
            yield f"{name} holds no secret; {MAKE_A_SECRET}"
        if len(secrets) > MAX_RING_LENGTH:
            yield f"{name} holds more than {MAX_RING_LENGTH} secrets; remove the oldest"
        if len(set(secrets)) < len(secrets):
            yield f"{name} holds the same secret twice"


def unsafe_secrets(values: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the secrets of rings in production."""
    for name in RINGS:
        for secret in _split(values.get(name, "")):
            yield from weaknesses(name, secret)
    peppers, sealing_secrets = (set(_split(values.get(name, ""))) for name in RINGS)
    if peppers & sealing_secrets:
        yield f"{KEY_PEPPER} and {SEALING_KEYS} must differ"


def weaknesses(name: str, secret: str) -> Iterator[str]:
    """Yield why production refuses a secret of a setting."""
    if secret.startswith(DEVELOPMENT_PREFIX):
        yield f"{name} holds a development secret; {MAKE_A_SECRET}"
    elif len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < 10:
        yield f"{name} is too short or too simple; {MAKE_A_SECRET}"


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
