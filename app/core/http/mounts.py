"""Mounts: a blueprint, the prefix that it is registered under, and the guard that authenticates its callers."""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint

from config.settings import Settings


@dataclass(frozen=True, slots=True)
class Guard:
    """How callers are authenticated: `authenticate` raises `Unauthorized` unless the caller presents what it takes.

    `credential` describes that for the API description; None where the mount is public.
    """

    name: str
    authenticate: Callable[[], None]
    credential: str | None = None
    cookie: Callable[[Settings], str] | None = None
    """The name of the cookie that carries the credential; without one it is a Bearer token."""

    def security_scheme(self, settings: Settings) -> dict[str, str]:
        """Return the credential's OpenAPI security scheme."""
        description = {"description": self.credential or ""}
        if self.cookie is None:
            return {"type": "http", "scheme": "bearer", **description}
        return {"type": "apiKey", "in": "cookie", "name": self.cookie(settings), **description}


@dataclass(frozen=True, slots=True)
class Mount:
    """One blueprint, its prefix and its guard."""

    blueprint: Blueprint
    prefix: str
    guard: Guard
    cors: bool = False
    """Whether scripts of any origin may call it; never together with cookies."""
    is_limited: bool = True
    """Whether its requests count for the limit of their client's address."""
