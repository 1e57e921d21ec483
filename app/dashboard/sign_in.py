"""The sign-in page, and the static files of all pages."""

from flask import redirect, request
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from app.accounts import sessions
from app.accounts.guards import presented_token, set_session_cookie
from app.accounts.schemas import CredentialsSchema
from app.accounts.sessions import NewSession, WrongCredentials
from app.accounts.throttle import TooManyAttempts
from app.core.errors import ApiError
from app.core.http.addresses import client_address
from app.dashboard.pages import SIGN_IN, Page, PageBlueprint, not_found
from app.dashboard.rules import local_path

MINUTE_S = 60

sign_in_pages = PageBlueprint("dashboard", has_login=False, template_folder="templates", static_folder="static")
sign_in_pages.app_errorhandler(NotFound)(not_found)


@sign_in_pages.page(SIGN_IN, "sign_in/page.html")
def show_sign_in() -> Page | Response:
    """Show the sign-in form, or go on to the next page if there is a session."""
    next_path = local_path(request.args.get("next", ""))
    return redirect(next_path, 303) if _is_signed_in() else _form_page(next_path)


@sign_in_pages.form(SIGN_IN, "sign_in/page.html")
def sign_in() -> Page | Response:
    """Sign in with the form's credentials, or show the form again with the error."""
    next_path = local_path(request.form.get("next", ""))
    try:
        session = _open_session()
    except (WrongCredentials, TooManyAttempts) as error:
        return _form_page(next_path, error)
    set_session_cookie(session.token)
    return redirect(next_path, 303)


def _is_signed_in() -> bool:
    token = presented_token()
    return token is not None and sessions.find_login(token) is not None


def _open_session() -> NewSession:
    """Sign in with what the form holds, or raise `WrongCredentials` or `TooManyAttempts`."""
    form = {name: request.form.get(name, "") for name in ("email", "password")}
    try:
        credentials = CredentialsSchema().accept(form)
    except ApiError:
        # No account has credentials that the schema does not accept.
        raise WrongCredentials from None
    return sessions.sign_in(credentials.email, credentials.password, client_address(), presented_token())


def _form_page(next_path: str, error: ApiError | None = None) -> Page:
    variables = {
        "next_path": next_path,
        "email": request.form.get("email", ""),
        "error": _error_sentence(error) if error else None,
    }
    if error is None:
        return Page(variables)
    return Page(variables, error.status, dict(error.headers))


def _error_sentence(error: ApiError) -> str:
    if not isinstance(error, TooManyAttempts):
        return str(error)
    wait_s = error.retry_after_s
    wait = f"{wait_s} seconds" if wait_s <= MINUTE_S else f"{-(-wait_s // MINUTE_S)} minutes"
    return f"There were too many attempts to sign in. Please wait {wait} and try again."
