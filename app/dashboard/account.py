"""The page of one's own account: its sessions and password, and the pages of its second factor."""

import uuid

import segno
from flask import redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.accounts import own_account, second_factor, sessions
from app.accounts.guards import current_client
from app.accounts.own_account import WrongPassword, WrongProof
from app.accounts.rules import MIN_PASSWORD_LENGTH
from app.accounts.second_factor import EnrolmentExpired, SecondFactorEnabled, WrongConfirmation
from app.accounts.sessions import Login
from app.accounts.throttle import TooManyAttempts
from app.core.errors import ApiError, Unprocessable
from app.dashboard.pages import Page, PageBlueprint, page_with_error

ACCOUNT = "/account"
SECOND_FACTOR = f"{ACCOUNT}/second-factor"

NOTICES = {
    "password": "Your password is changed, and your other sessions have ended.",
    "sessions": "Your other sessions have ended.",
    "session": "The session has ended.",
    "second-factor": "Your second factor is switched off.",
}

account = PageBlueprint("account", has_login=True, is_personal=True)


@account.page("", "account/page.html")
def show_account(login: Login) -> Page:
    """Show the user's sessions, the form for the password, and whether there is a second factor."""
    return _account_page(login, notice=NOTICES.get(request.args.get("done", "")))


@account.form("/sessions/<uuid:session_id>/revoke")
def revoke_session(login: Login, session_id: uuid.UUID) -> Response:
    """End one of the user's sessions."""
    sessions.revoke_own_session(login, session_id)
    return _done("session")


@account.form("/sessions/revoke")
def revoke_other_sessions(login: Login) -> Response:
    """End all of the user's sessions but this one."""
    sessions.revoke_other_sessions(login)
    return _done("sessions")


@account.form("/password", "account/page.html")
def change_password(login: Login) -> Page | Response:
    """Change the user's password, or show the form again with the error."""
    old_password, new_password = request.form.get("old_password", ""), request.form.get("new_password", "")
    try:
        if new_password != request.form.get("repeated_password", ""):
            raise Unprocessable("The new password and its repetition differ.")
        own_account.change_own_password(login, old_password, new_password, current_client())
    except (WrongPassword, TooManyAttempts, Unprocessable) as error:
        return _account_page(login, error)
    return _done("password")


@account.page("/second-factor", "second_factor/page.html")
def show_second_factor(login: Login) -> Page:
    """Show what to set up a second factor with, or how to switch it off."""
    return _second_factor_page(login)


@account.form("/second-factor", "second_factor/page.html")
def begin_second_factor(login: Login) -> Page | Response:
    """Make a new secret, which has no effect before a code confirms it, or show the form again with the error."""
    try:
        own_account.begin_second_factor(login, request.form.get("password", ""), current_client())
    except (WrongPassword, TooManyAttempts, SecondFactorEnabled) as error:
        return _second_factor_page(login, error)
    return redirect(SECOND_FACTOR, 303)


@account.form("/second-factor/confirm", "second_factor/page.html")
def confirm_second_factor(login: Login) -> Page:
    """Enable the second factor, and show the recovery codes this once."""
    try:
        codes = second_factor.confirm_enrolment(login, request.form.get("code", ""))
    except (WrongConfirmation, EnrolmentExpired, SecondFactorEnabled) as error:
        return _second_factor_page(login, error)
    return Page({"recovery_codes": codes})


@account.form("/second-factor/disable", "second_factor/page.html")
def disable_second_factor(login: Login) -> Page | Response:
    """Disable the second factor with the password or a code, or show the form again with the error."""
    try:
        own_account.disable_second_factor(login, request.form.get("proof", ""), current_client())
    except (WrongProof, TooManyAttempts) as error:
        return _second_factor_page(login, error)
    return _done("second-factor")


def _done(notice: str) -> Response:
    return redirect(f"{ACCOUNT}?done={notice}", 303)


def _account_page(login: Login, error: ApiError | None = None, notice: str | None = None) -> Page:
    variables = {
        "sessions": [
            {
                "id": session.id,
                "created_at": session.created_at,
                "last_seen_at": session.last_seen_at,
                "browser": session.browser or "unknown",
                "network": session.network or "unknown",
                "is_current": session.id == login.session_id,
            }
            for session in sessions.list_sessions(login.user_id)
        ],
        "second_factor": second_factor.get_state(login.user_id),
        "min_password_length": MIN_PASSWORD_LENGTH,
        "notice": notice,
    }
    return page_with_error(variables, error)


def _second_factor_page(login: Login, error: ApiError | None = None) -> Page:
    enrolment = second_factor.find_enrolment(login)
    variables = {
        "state": second_factor.get_state(login.user_id),
        "enrolment": enrolment,
        "qr_code": _qr_code(enrolment.uri) if enrolment else None,
    }
    return page_with_error(variables, error)


def _qr_code(text: str) -> Markup:
    # White around it in dark mode too, or cameras do not find it.
    return Markup(segno.make(text, error="m").svg_inline(scale=5, border=3, light="white"))
