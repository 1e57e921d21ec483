"""The page where people sign in."""

from flask import Response, request

from app.accounts import sessions
from app.accounts.guards import client_address, presented_token, set_session_cookie
from app.accounts.schemas import CredentialsSchema
from app.accounts.sessions import WrongCredentials
from app.accounts.throttle import TooManyAttempts
from app.core.database import transaction
from app.core.errors import ApiError
from app.dashboard.pages import render

MINUTE_S = 60


def is_signed_in() -> bool:
    """Tell whether the browser presents a session."""
    token = presented_token()
    return token is not None and sessions.find_login(token) is not None


def open_session() -> None:
    """Sign in with what the form holds, or raise `WrongCredentials` or `TooManyAttempts`."""
    form = {name: request.form.get(name, "") for name in ("email", "password")}
    try:
        given = CredentialsSchema().accept(form)
    except ApiError:
        # What no account can have is as wrong as what none has.
        raise WrongCredentials from None
    with transaction():
        opened = sessions.sign_in(given.email, given.password, client_address(), presented_token())
        set_session_cookie(opened.token)


def show_form(wanted: str, refusal: ApiError | None = None) -> Response:
    """Show the form, with the reason if it was filled in in vain; `wanted` is where to go afterwards."""
    sentence = _in_words(refusal) if refusal else None
    status = refusal.status if refusal else 200
    page = render("sign_in.html", status, wanted=wanted, email=request.form.get("email", ""), refusal=sentence)
    if isinstance(refusal, TooManyAttempts):
        page.headers.update(refusal.headers)
    return page


def _in_words(refusal: ApiError) -> str:
    if not isinstance(refusal, TooManyAttempts):
        return str(refusal)
    wait_s = refusal.retry_after_s
    wait = f"{wait_s} seconds" if wait_s <= MINUTE_S else f"{-(-wait_s // MINUTE_S)} minutes"
    return f"There were too many attempts to sign in. Please wait {wait} and try again."
