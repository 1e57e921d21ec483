"""The forms of every page's head: sign out, and continue in another workspace."""

import uuid

from flask import request
from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from app.accounts import sessions
from app.accounts.guards import current_session_token, delete_session_cookie, set_session_cookie
from app.accounts.sessions import Login
from app.core.errors import NotFound
from app.dashboard.pages import SIGN_IN, PageBlueprint
from app.dashboard.rules import HOME

own_session = PageBlueprint("own_session", has_login=True, is_personal=True)


@own_session.form("/sign-out")
def sign_out(_: Login) -> Response:
    """Sign out, and show the sign-in page."""
    sessions.revoke_session(current_session_token())
    delete_session_cookie()
    return redirect(SIGN_IN, 303)


@own_session.form("/workspace")
def switch_workspace(login: Login) -> Response:
    """Continue in another workspace of the user, with a new token, so that no form of the old one is sent here."""
    try:
        workspace_id = uuid.UUID(request.form.get("workspace", ""))
    except ValueError:
        raise NotFound from None
    sessions.switch_workspace(login, workspace_id)
    set_session_cookie(sessions.renew_token(login))
    return redirect(HOME, 303)
