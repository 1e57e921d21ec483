"""Who may come in by signing in: a cookie that a browser keeps, for pages and what they ask for."""

import logging
import re
from collections.abc import Callable
from functools import cache, partial
from urllib.parse import urlsplit

from flask import Response, after_this_request, g, request

from app.accounts import sessions
from app.accounts.rules import SESSION_LIMIT, may_change
from app.accounts.sessions import Login
from app.core.database import after_commit
from app.core.errors import Forbidden, Unauthorized
from app.core.http.mounts import Guard
from app.core.settings import current_settings
from config.settings import Settings

COOKIE = "agent_feedback_session"

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")

logger = logging.getLogger(__name__)


class NotSignedIn(Unauthorized):
    """No session, or one that has ended."""

    sentence = "Sign in first: POST /api/session with an e-mail address and a password."


class ForeignOrigin(Forbidden):
    """A page of another site has sent this."""

    code = "foreign_origin"
    sentence = "This was sent by a page of another site."


class RoleTooSmall(Forbidden):
    """Whoever is signed in may not do this."""

    code = "role_too_small"
    sentence = "Your role may look at this, but not change it."


def current_login() -> Login:
    """Return who was admitted."""
    login: Login = g.login
    return login


def current_session_token() -> str:
    """Return the token by which they were admitted."""
    token: str = g.session_token
    return token


def require_role(is_enough: Callable[[str], bool] = may_change) -> None:
    """Raise unless the role of who is signed in is enough; without an argument, enough to change things."""
    if not is_enough(current_login().role):
        raise RoleTooSmall


def cookie_prefix(settings: Settings) -> str:
    """Return what keeps a cookie to this one host; browsers take it over https only, which development has not."""
    return "" if settings.is_development else "__Host-"


def cookie_name(settings: Settings) -> str:
    """Return the name of the session's cookie."""
    return cookie_prefix(settings) + COOKIE


def presented_token() -> str | None:
    """Return the session's token as the browser presents it, if it can be one."""
    text = request.cookies.get(cookie_name(current_settings()), "")
    return text if _TOKEN.match(text) else None


def client_address() -> str:
    """Return where the request comes from, as far as the proxies in front are trusted to say."""
    if "X-Forwarded-For" in request.headers and not current_settings().trusted_proxies:
        _warn_of_proxy()
    return request.remote_addr or ""


@cache
def _warn_of_proxy() -> None:
    """Say, once in each process, that all clients may be throttled as one."""
    logger.warning("X-Forwarded-For comes in and is not trusted: AGENT_FEEDBACK_TRUSTED_PROXIES is 0")


def give_session(token: str) -> None:
    """Hand a session's token to the browser once the session is committed."""
    after_commit(lambda: _amend_response(partial(_set_cookie, token)))


def take_session_back() -> None:
    """Let the browser forget its session once its end is committed."""
    after_commit(lambda: _amend_response(_delete_cookie))


def _amend_response(amend: Callable[[Response], Response]) -> None:
    after_this_request(amend)


def _set_cookie(token: str, response: Response) -> Response:
    settings = current_settings()
    # Lax: a link from elsewhere opens the dashboard signed in, a form or script from elsewhere sends no cookie.
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


def refuse_foreign_origin() -> None:
    """Raise if a page of another site sent a request that changes something.

    The cookie is not sent along from there (SameSite=Lax), but signing in needs no cookie: a foreign page could sign
    its visitor in to an account of its own, and bodies are read as JSON whatever type they announce. A browser names
    the sender's origin with every such request; a script without one has nobody's cookies but its own.
    """
    origin = request.headers.get("Origin")
    if request.method in SAFE_METHODS or origin is None:
        return
    settings = current_settings()
    # TLS may end at a proxy, so the scheme of our own host is the one that the settings say.
    own_host = f"{urlsplit(settings.app_url).scheme}://{request.host}"
    sender = _origin(origin)
    if sender is None or sender not in map(_origin, (settings.app_url, settings.feedback_url, own_host)):
        raise ForeignOrigin


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Return scheme, host and port; None for what is no URL, such as the `null` of a sandbox."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def _authenticate_session() -> None:
    token = presented_token()
    login = sessions.find_login(token) if token else None
    if login is None:
        raise NotSignedIn
    refuse_foreign_origin()
    g.login, g.session_token = login, token


DASHBOARD_SESSION = Guard(
    "dashboardSession",
    _authenticate_session,
    "The session of a dashboard user, from POST /api/session.",
    cookie=cookie_name,
)
OWN_ORIGIN = Guard("ownOrigin", refuse_foreign_origin)
"""Open to all but the pages of other sites."""
