"""Authenticate requests by the session cookie, for pages and for their API."""

import re
from collections.abc import Callable
from functools import partial
from urllib.parse import urlsplit

from flask import Response, after_this_request, g, request

from app.accounts import sessions
from app.accounts.rules import SESSION_LIMIT, Client, may_change
from app.accounts.sessions import Login
from app.core.database import after_commit
from app.core.errors import Forbidden, Unauthorized
from app.core.http.addresses import client_address
from app.core.http.limits import count_failed_attempt, require_attempts_left
from app.core.http.mounts import Guard
from app.core.limits.limiter import RateLimited, limiter
from app.core.settings import current_settings
from config.limits import LimitName
from config.settings import Settings

COOKIE = "agent_feedback_session"

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")


class NotSignedIn(Unauthorized):
    """The request has no valid session."""

    sentence = "Sign in first: POST /api/session with an e-mail address and a password."


class ForeignOrigin(Forbidden):
    """A page of another site sent the request."""

    code = "foreign_origin"
    sentence = "This was sent by a page of another site."


class InsufficientRole(Forbidden):
    """The role of the signed-in user does not allow this."""

    code = "role_too_small"
    sentence = "Your role may look at this, but not change it."


def current_login() -> Login:
    """Return the login of the current request."""
    login: Login = g.login
    return login


def current_session_token() -> str:
    """Return the session token of the current request."""
    token: str = g.session_token
    return token


def require_role(is_sufficient: Callable[[str], bool] = may_change) -> None:
    """Raise `InsufficientRole` unless the role passes a test; by default, unless it may change things."""
    if not is_sufficient(current_login().role):
        raise InsufficientRole


def cookie_prefix(settings: Settings) -> str:
    """Return the prefix that binds a cookie to one host; empty in development, since it requires HTTPS."""
    return "" if settings.is_development else "__Host-"


def cookie_name(settings: Settings) -> str:
    """Return the name of the session's cookie."""
    return full_cookie_name(COOKIE, settings)


def full_cookie_name(name: str, settings: Settings) -> str:
    """Return the name of one of this copy's cookies, which no other copy on the host has."""
    return f"{cookie_prefix(settings)}{name}_{settings.copy_id}"


def presented_token() -> str | None:
    """Return the session's token as the browser presents it, if it can be one."""
    text = request.cookies.get(cookie_name(current_settings()), "")
    return text if _TOKEN.match(text) else None


def current_client() -> Client:
    """Return the address and the user agent of the current request."""
    return Client(client_address(), request.headers.get("User-Agent", ""))


def set_session_cookie(token: str) -> None:
    """Set the session cookie once the session is committed."""
    after_commit(lambda: _amend_response(partial(_set_cookie, token)))


def delete_session_cookie() -> None:
    """Delete the session cookie once the end of the session is committed."""
    after_commit(lambda: _amend_response(_delete_cookie))


def _amend_response(amend: Callable[[Response], Response]) -> None:
    after_this_request(amend)


def _set_cookie(token: str, response: Response) -> Response:
    settings = current_settings()
    # Lax: a link on another site opens the dashboard signed in; a form or script of another site sends no cookie.
    response.set_cookie(
        cookie_name(settings),
        token,
        max_age=SESSION_LIMIT,
        path="/",
        secure=not settings.is_development,
        httponly=True,
        samesite="Lax",
    )
    return response


def _delete_cookie(response: Response) -> Response:
    settings = current_settings()
    response.delete_cookie(
        cookie_name(settings), path="/", secure=not settings.is_development, httponly=True, samesite="Lax"
    )
    return response


def check_origin() -> None:
    """Raise `ForeignOrigin` if a page of another site sent a request that changes something.

    The session cookie is not sent from there (SameSite=Lax), but signing in needs no cookie: a foreign page could sign
    its visitor in to an account of its own, and bodies are read as JSON whatever type they announce. A browser sends
    an Origin with every such request; a client without one is not a browser and sends only its own cookies.
    """
    origin = request.headers.get("Origin")
    if request.method in SAFE_METHODS or origin is None:
        return
    settings = current_settings()
    # TLS may end at a proxy, so the scheme of our own host comes from the settings.
    own_host = f"{urlsplit(settings.app_url).scheme}://{request.host}"
    sender_origin = _origin(origin)
    if sender_origin is None or sender_origin not in map(_origin, (settings.app_url, settings.feedback_url, own_host)):
        raise ForeignOrigin


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Return scheme, host and port of a URL; None if it is none, such as the `null` of a sandboxed page."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def _authenticate_session() -> None:
    token = presented_token()
    if token:
        require_attempts_left()
    login = sessions.find_login(token) if token else None
    if login is None:
        raise NotSignedIn
    limiter().count_request((LimitName.WORKSPACE, login.workspace_id))
    check_origin()
    g.login, g.session_token = login, token


def recognise_login() -> None:
    """Let a page that anybody may see know who is signed in, if somebody is."""
    token = presented_token()
    if token is None:
        return
    try:
        # Nothing counts tokens here, with which anybody could make the database look for random ones.
        require_attempts_left()
        login = sessions.find_login(token)
        if login is None:
            count_failed_attempt()
    except RateLimited:
        return
    if login:
        g.login, g.session_token = login, token


DASHBOARD_SESSION = Guard(
    "dashboardSession",
    _authenticate_session,
    "The session of a dashboard user, from POST /api/session.",
    cookie=cookie_name,
)
OWN_ORIGIN = Guard("ownOrigin", check_origin)
"""Public, except to pages of other sites."""
