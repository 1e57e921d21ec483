"""Change the secrets of the running app, as a restart with other settings does."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from flask import Flask

from app.core.purposes import PepperRing
from app.products.key_cache import KeyCache
from config.secret_rings import DEVELOPMENT_PREFIX, Secret


def new_secret() -> str:
    return DEVELOPMENT_PREFIX + secrets.token_urlsafe(32)


class AppSecrets:
    """The secrets of an app: its first ones, and new ones to rotate to."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        settings = app.extensions["settings"]
        self.old_pepper = settings.key_peppers[0].reveal()
        self.old_sealing_secret = settings.sealing_secrets[0].reveal()
        self.new_pepper, self.new_sealing_secret = new_secret(), new_secret()

    def configure(self, peppers: Sequence[str] | None = None, sealing_secrets: Sequence[str] | None = None) -> None:
        """Give the app other secrets; None leaves a ring as it is."""
        rings: dict[str, Any] = {"key_peppers": peppers, "sealing_secrets": sealing_secrets}
        changes = {name: tuple(map(Secret, ring)) for name, ring in rings.items() if ring is not None}
        settings = replace(self._app.extensions["settings"], **changes)
        extensions = {
            "settings": settings,
            "key_cache": KeyCache(settings),
            "pepper": PepperRing([secret.reveal().encode() for secret in settings.key_peppers]),
        }
        self._app.extensions.update(extensions)


@contextmanager
def rotation(app: Flask) -> Iterator[AppSecrets]:
    """Let a test change the secrets of the app, and restore them."""
    extensions = {name: app.extensions.get(name) for name in ("settings", "key_cache", "pepper")}
    try:
        yield AppSecrets(app)
    finally:
        app.extensions.update(extensions)
        app.extensions["key_cache"].clear()
