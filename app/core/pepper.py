"""The pepper of the running app."""

from flask import current_app

from app.core.purposes import Pepper
from app.core.settings import current_settings


def current_pepper() -> Pepper:
    """Return the pepper of the current app."""
    pepper: Pepper | None = current_app.extensions.get("pepper")
    if pepper is None:
        secret = current_settings().key_pepper.reveal().encode()
        pepper = current_app.extensions["pepper"] = Pepper(secret)
    return pepper
