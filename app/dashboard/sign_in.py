"""The sign-in page, the page of its code, and the static files of all pages."""

import uuid
from datetime import timedelta
from typing import Any
from urllib.parse import unquote, urlsplit

from flask import current_app, redirect, request
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.wrappers import Response

from app.accounts import sessions
from app.accounts import sign_in as sign_in_steps
from app.accounts.guards import current_client, presented_token, set_session_cookie
from app.accounts.schemas import CredentialsSchema
from app.accounts.sessions import NewSession
from app.accounts.sign_in import PendingSignIn, SecondFactorRequired, SignInExpired, WrongCode, WrongCredentials
from app.accounts.throttle import TooManyAttempts
from app.core.errors import ApiError
from app.core.http.limits import count_failed_attempt, require_attempts_left
from app.core.purposes import Purpose
from app.core.settings import current_settings
from app.dashboard import template_globals
from app.dashboard.cookies import SignedCookie
from app.dashboard.pages import SIGN_IN, Page, PageBlueprint, answer_without_route, retry_sentence
from app.dashboard.rules import HOME, local_path

CODE = f"{SIGN_IN}/code"

PENDING = SignedCookie("agent_feedback_pending", Purpose.SIGN_IN_COOKIE, timedelta(minutes=5))

sign_in_pages = PageBlueprint("dashboard", template_folder="templates", static_folder="static")
sign_in_pages.app_errorhandler(NotFound)(answer_without_route)
sign_in_pages.app_errorhandler(MethodNotAllowed)(answer_without_route)
sign_in_pages.record(template_globals.install)


@sign_in_pages.page(SIGN_IN, "sign_in/page.html")
def show_sign_in() -> Page | Response:
    """Show the sign-in form, or go on to the next page if there is a session."""
    next_path = read_next_path(request.args.get("next", ""))
    return redirect(next_path, 303) if _is_signed_in() else form_page(next_path)


@sign_in_pages.form(SIGN_IN, "sign_in/page.html")
def sign_in() -> Page | Response:
    """Sign in with the form's credentials, or show the form again with the error."""
    next_path = read_next_path(request.form.get("next", ""))
    try:
        session = _open_session()
    except SecondFactorRequired as required:
        return ask_for_code(required.pending, next_path)
    except (WrongCredentials, TooManyAttempts) as error:
        return form_page(next_path, error)
    set_session_cookie(session.token)
    return redirect(next_path, 303)


@sign_in_pages.page(CODE, "sign_in/code.html")
def show_code() -> Page | Response:
    """Show the form for the code, or the sign-in form if no sign-in waits for one."""
    return redirect(SIGN_IN, 303) if PENDING.read() is None else _code_page()


@sign_in_pages.form(CODE, "sign_in/code.html")
def send_code() -> Page | Response:
    """Complete the sign-in with the form's code, or show the form again with the error."""
    pending: dict[str, Any] = PENDING.read() or {}
    if not pending:
        return redirect(SIGN_IN, 303)
    sign_in = PendingSignIn(uuid.UUID(pending["user_id"]), pending["fingerprint"])
    try:
        session = sign_in_steps.complete_sign_in(
            sign_in, request.form.get("code", ""), current_client(), presented_token()
        )
    except (WrongCode, TooManyAttempts) as error:
        return _code_page(error)
    except (SignInExpired, WrongCredentials):
        PENDING.delete()
        return redirect(SIGN_IN, 303)
    PENDING.delete()
    set_session_cookie(session.token)
    return redirect(read_next_path(pending["next_path"]), 303)


def read_next_path(text: str) -> str:
    """Return the text if it is the path of something that a GET shows, else the path of the home page."""
    path = local_path(text)
    is_shown = current_app.url_map.bind("").test(unquote(urlsplit(path).path), "GET")
    return path if is_shown else HOME


def ask_for_code(pending: PendingSignIn, next_path: str) -> Response:
    """Go on to the form for the code."""
    PENDING.set({"user_id": str(pending.user_id), "fingerprint": pending.fingerprint, "next_path": next_path})
    return redirect(CODE, 303)


def _is_signed_in() -> bool:
    token = presented_token()
    if token is None:
        return False
    # The page has no guard that counts tokens, with which anybody could make the database look for random ones.
    require_attempts_left()
    if sessions.find_login(token):
        return True
    count_failed_attempt()
    return False


def _open_session() -> NewSession:
    """Sign in with what the form holds, or raise the errors of `app.accounts.sign_in`."""
    form = {name: request.form.get(name, "") for name in ("email", "password")}
    try:
        credentials = CredentialsSchema().accept(form)
    except ApiError:
        # No account has credentials that the schema does not accept.
        raise WrongCredentials from None
    return sign_in_steps.sign_in(credentials, current_client(), presented_token())


def form_page(next_path: str, error: ApiError | None = None) -> Page:
    """Return the sign-in page, with the error of the last attempt."""
    settings = current_settings()
    variables = {
        "next_path": next_path,
        "email": request.form.get("email", ""),
        "error": retry_sentence(error),
        # On the host that the provider sends its answer to, where the cookie of the sign-in has to be.
        "single_sign_on_url": f"{settings.app_url}{SIGN_IN}/oidc" if settings.oidc else None,
    }
    return _page(variables, error)


def _code_page(error: ApiError | None = None) -> Page:
    return _page({"error": retry_sentence(error)}, error)


def _page(variables: dict[str, Any], error: ApiError | None) -> Page:
    return Page(variables) if error is None else Page(variables, error.status, dict(error.headers))
