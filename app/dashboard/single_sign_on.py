"""Signing in at the operator's OpenID provider."""

import hmac
from dataclasses import asdict
from datetime import timedelta
from functools import partial
from typing import Any

from flask import current_app, redirect, request
from werkzeug.wrappers import Response

from app.accounts import sign_in as sign_in_steps
from app.accounts.guards import current_client, presented_token, set_session_cookie
from app.accounts.oidc import OidcClient, PendingAuthorization, ProviderUnavailable, SignInRejected
from app.accounts.sessions import NewSession
from app.accounts.sign_in import SecondFactorRequired, UnknownIdentity, WrongCredentials
from app.accounts.throttle import TooManyAttempts, address_limits, clear_attempt, count_attempt
from app.core.database import after_commit
from app.core.errors import NotFound
from app.core.purposes import Purpose
from app.core.settings import current_settings
from app.dashboard.cookies import SignedCookie
from app.dashboard.pages import SIGN_IN, Page, PageBlueprint
from app.dashboard.sign_in import ask_for_code, form_page, read_next_path

PENDING = SignedCookie("agent_feedback_oidc", Purpose.SIGN_IN_COOKIE, timedelta(minutes=10))

single_sign_on = PageBlueprint("single_sign_on")


class NoProvider(NotFound):
    """The operator has configured no provider."""

    sentence = "Users of this service sign in with their passwords."


@single_sign_on.page("", "sign_in/page.html")
def begin() -> Page | Response:
    """Send the browser to the provider."""
    next_path = read_next_path(request.args.get("next", ""))
    try:
        url, pending = _oidc_client().begin()
    except ProviderUnavailable as error:
        return form_page(next_path, error)
    PENDING.set({**asdict(pending), "next_path": next_path})
    return redirect(url, 303)


@single_sign_on.page("/callback", "sign_in/page.html")
def finish() -> Page | Response:
    """Sign in whom the provider has authenticated."""
    values: dict[str, Any] = PENDING.read() or {}
    PENDING.delete()
    next_path = values.pop("next_path", "/")
    try:
        session = _open_session(values)
    except SecondFactorRequired as required:
        _clear_attempt()
        return ask_for_code(required.pending, next_path)
    except (SignInRejected, ProviderUnavailable, UnknownIdentity, WrongCredentials, TooManyAttempts) as error:
        return form_page(next_path, error)
    _clear_attempt()
    set_session_cookie(session.token)
    return redirect(next_path, 303)


def _clear_attempt() -> None:
    after_commit(partial(clear_attempt, address_limits(current_client().address)))


def _open_session(values: dict[str, Any]) -> NewSession:
    """Open a session with the provider's answer, which has to be that to this browser's own request."""
    oidc_client, client = _oidc_client(), current_client()
    state, code = request.args.get("state", ""), request.args.get("code", "")
    if not code or not hmac.compare_digest(values.get("state", "").encode(), state.encode()) or not state:
        raise SignInRejected
    # Every answer costs requests to the provider.
    count_attempt(address_limits(client.address))
    identity = oidc_client.finish(PendingAuthorization(**values), code)
    return sign_in_steps.sign_in_by_identity(identity, client, presented_token())


def _oidc_client() -> OidcClient:
    """Return the app's client of the provider, or raise `NoProvider`."""
    settings = current_settings()
    if settings.oidc is None:
        raise NoProvider
    client: OidcClient | None = current_app.extensions.get("oidc")
    if client is None:
        redirect_uri = f"{settings.app_url}{SIGN_IN}/oidc/callback"
        client = OidcClient(settings.oidc, redirect_uri, requires_https=not settings.is_development)
        current_app.extensions["oidc"] = client
    return client
