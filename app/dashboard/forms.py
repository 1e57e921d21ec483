"""Form tokens, which protect forms against requests that other sites send (CSRF).

It is derived from what the browser presents in a cookie: the session's token or, before there is a session, a random
value that is signed and short-lived. Flask-WTF is not used: it ties its token to Flask's own cookie session, which
this service does not have.
"""

import base64
import hmac
import secrets
from datetime import timedelta

from flask import g, request

from app.accounts.guards import SAFE_METHODS
from app.core.errors import Forbidden
from app.core.http.body import AGENT_BODY_BYTES
from app.core.pepper import current_pepper
from app.core.purposes import Purpose
from app.dashboard.cookies import SignedCookie

FIELD = "form_token"
LIFETIME = timedelta(hours=1)
"""Of a token from before signing in; one of a session lives as long as the session."""

COOKIE = SignedCookie("agent_feedback_form", Purpose.FORM_COOKIE, LIFETIME)


class StaleForm(Forbidden):
    """The form's token is missing, invalid or expired."""

    code = "stale_form"
    sentence = "This form is not valid any more. Please open its page again and repeat what you did."


def form_token() -> str:
    """Return the token for the forms of the current page."""
    if "login" in g:
        return _token(g.session_token)
    # The browser's value is renewed rather than replaced, so that forms in two tabs do not invalidate each other.
    value = COOKIE.read() or secrets.token_urlsafe(32)
    COOKIE.set(value)
    return _token(value)


def check_form() -> None:
    """Raise `StaleForm` unless a request that changes something has the token of a form of this browser."""
    if request.method in SAFE_METHODS:
        return
    request.max_content_length = AGENT_BODY_BYTES
    value = g.session_token if "login" in g else COOKIE.read()
    token = request.form.get(FIELD, "")
    if value is None or not hmac.compare_digest(_token(value).encode(), token.encode()):
        raise StaleForm


def _token(value: str) -> str:
    mac = hmac.digest(current_pepper().derive(Purpose.FORM_TOKEN), value.encode(), "sha256")
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
