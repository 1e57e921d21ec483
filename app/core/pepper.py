"""The peppers of the running app."""

from flask import current_app

from app.core.purposes import Pepper, PepperRing
from app.core.settings import current_settings


def pepper_ring() -> PepperRing:
    """Return the peppers of the current app: what recognises a digest or a signature has to try each."""
    ring: PepperRing | None = current_app.extensions.get("pepper")
    if ring is None:
        secrets = [secret.reveal().encode() for secret in current_settings().key_peppers]
        ring = current_app.extensions["pepper"] = PepperRing(secrets)
    return ring


def current_pepper() -> Pepper:
    """Return the newest pepper of the current app, which makes every new digest and signature."""
    return pepper_ring().newest
