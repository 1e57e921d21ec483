"""Form tokens, which protect forms against requests that other sites send (CSRF).

It is derived from what the browser presents in a cookie: the session's token or, before there is a session, a random
value that is signed and short-lived. Forms are WTForms. Flask-WTF is not used: it ties its token to Flask's own cookie
session, which this service does not have.
"""

import base64
import hmac
import secrets
from datetime import timedelta
from typing import Any

from flask import g, request
from wtforms import Form

from app.accounts.guards import SAFE_METHODS
from app.core.errors import Forbidden
from app.core.http.body import AGENT_BODY_BYTES
from app.core.pepper import pepper_ring
from app.core.purposes import Purpose
from app.dashboard.cookies import SignedCookie

FIELD = "csrf_token"
LIFETIME = timedelta(hours=1)
"""Of a token from before signing in; one of a session lives as long as the session."""

COOKIE = SignedCookie("agent_feedback_form", Purpose.FORM_COOKIE, LIFETIME)


class WriteForm(Form):  # type: ignore[misc]  # WTForms has no types
    """A form that changes something, filled from the request's body, or from `data` where the page is only shown.

    Its token is checked before any view.
    """

    def __init__(self, **data: Any) -> None:
        super().__init__(request.form if request.method == "POST" else None, data=data)


class StaleForm(Forbidden):
    """The form's token is missing, invalid or expired."""

    code = "stale_form"
    sentence = "This form is not valid any more. Please open its page again and repeat what you did."


def form_token() -> str:
    """Return the token for the forms of the current page."""
    if "login" in g:
        return _tokens(g.session_token)[0]
    # The browser's value is renewed rather than replaced, so that forms in two tabs do not invalidate each other.
    value = COOKIE.read() or secrets.token_urlsafe(32)
    COOKIE.set(value)
    return _tokens(value)[0]


def check_form() -> None:
    """Raise `StaleForm` unless a request that changes something has the token of a form of this browser."""
    if request.method in SAFE_METHODS:
        return
    request.max_content_length = AGENT_BODY_BYTES
    value = g.session_token if "login" in g else COOKIE.read()
    token = request.form.get(FIELD, "").encode()
    if value is None or not any(hmac.compare_digest(valid.encode(), token) for valid in _tokens(value)):
        raise StaleForm


def _tokens(value: str) -> list[str]:
    """Return the valid tokens of a browser's value, that of the newest pepper first."""
    macs = [hmac.digest(key, value.encode(), "sha256") for key in pepper_ring().derive_all(Purpose.FORM_TOKEN)]
    return [base64.urlsafe_b64encode(mac).rstrip(b"=").decode() for mac in macs]
