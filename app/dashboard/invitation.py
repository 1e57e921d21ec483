"""The page that an invitation's link opens: join a workspace, with a password of one's own or one's account.

It is public, since whoever is invited may have no account; the link's token is the credential.
"""

import re
import uuid

from flask import redirect, request, url_for
from werkzeug.wrappers import Response

from app.accounts import invitations, sessions
from app.accounts.guards import current_client, presented_token, set_session_cookie
from app.accounts.invitations import InvalidInvitation, MemberAlready, OpenInvitation
from app.accounts.rules import MIN_PASSWORD_LENGTH
from app.accounts.service import EmailTaken
from app.accounts.sessions import Login
from app.core.errors import ApiError, Unprocessable
from app.core.http.limits import count_failed_attempt, require_attempts_left
from app.dashboard.pages import Page, PageBlueprint, page_with_error
from app.dashboard.rules import HOME

_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}\Z")

invitation = PageBlueprint("invitation")


@invitation.page("/<uuid:workspace_id>/<token>", "invitation/page.html")
def show_invitation(workspace_id: uuid.UUID, token: str) -> Page:
    """Show what the link invites to, and the form to accept it."""
    return _invitation_page(workspace_id, token)


@invitation.form("/<uuid:workspace_id>/<token>", "invitation/page.html")
def create_account(workspace_id: uuid.UUID, token: str) -> Page | Response:
    """Create the invited user with the form's password and sign in, or show the form again with the error."""
    _get_invitation(workspace_id, token)
    password = request.form.get("new_password", "")
    try:
        if password != request.form.get("repeated_password", ""):
            raise Unprocessable("The password and its repetition differ.")
        new_session = invitations.accept_as_new_user(workspace_id, token, password, current_client())
    except (Unprocessable, EmailTaken) as error:
        return _invitation_page(workspace_id, token, error)
    if previous_token := presented_token():
        sessions.revoke_session(previous_token)
    set_session_cookie(new_session.token)
    return redirect(HOME, 303)


@invitation.form("/<uuid:workspace_id>/<token>/join", "invitation/page.html")
def join(workspace_id: uuid.UUID, token: str) -> Page | Response:
    """Let the signed-in user join the workspace, and continue there."""
    _get_invitation(workspace_id, token)
    login = _find_login()
    if login is None:
        return redirect(url_for("invitation.show_invitation", workspace_id=workspace_id, token=token), 303)
    try:
        invitations.accept_as_user(login, workspace_id, token)
    except MemberAlready as error:
        return _invitation_page(workspace_id, token, error)
    sessions.switch_workspace(login, workspace_id)
    set_session_cookie(sessions.renew_token(login))
    return redirect(HOME, 303)


def _get_invitation(workspace_id: uuid.UUID, token: str) -> OpenInvitation:
    """Return what a link invites to, or raise `InvalidInvitation`; guesses are counted for the client's address."""
    require_attempts_left()
    try:
        if not _TOKEN.match(token):
            raise InvalidInvitation
        return invitations.get_invitation(workspace_id, token)
    except InvalidInvitation:
        count_failed_attempt()
        raise


def _find_login() -> Login | None:
    token = presented_token()
    return sessions.find_login(token) if token else None


def _invitation_page(workspace_id: uuid.UUID, token: str, error: ApiError | None = None) -> Page:
    variables = {
        "invitation": _get_invitation(workspace_id, token),
        "workspace_id": workspace_id,
        "token": token,
        "signed_in": _find_login(),
        "path": request.path.removesuffix("/join"),
        "min_password_length": MIN_PASSWORD_LENGTH,
    }
    return page_with_error(variables, error)
