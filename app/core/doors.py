"""Doors: one for each blueprint, with the guard that stands at it."""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Blueprint

from config.settings import Settings


@dataclass(frozen=True, slots=True)
class Guard:
    """Who may come in: `admit` raises `Unauthorized` unless the caller may; `credential` documents what it takes."""

    name: str
    admit: Callable[[], None]
    credential: str | None = None
    cookie: Callable[[Settings], str] | None = None
    """The name of the cookie that carries the credential; without one it is a Bearer token."""

    def security_scheme(self, settings: Settings) -> dict[str, str]:
        """Return how OpenAPI describes the credential."""
        described = {"description": self.credential or ""}
        if self.cookie is None:
            return {"type": "http", "scheme": "bearer", **described}
        return {"type": "apiKey", "in": "cookie", "name": self.cookie(settings), **described}


@dataclass(frozen=True, slots=True)
class Door:
    """One blueprint, where it hangs, and who may come in."""

    blueprint: Blueprint
    prefix: str
    guard: Guard
    is_open_to_browsers: bool = False
    """Whether scripts of any origin may call it; never together with cookies."""
