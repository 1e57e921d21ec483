"""The forms of every page's head: sign out."""

from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from app.accounts import sessions
from app.accounts.guards import current_session_token, delete_session_cookie
from app.accounts.sessions import Login
from app.dashboard.pages import SIGN_IN, PageBlueprint

own_session = PageBlueprint("own_session", has_login=True, is_personal=True)


@own_session.form("/sign-out")
def sign_out(_: Login) -> Response:
    """Sign out, and show the sign-in page."""
    sessions.revoke_session(current_session_token())
    delete_session_cookie()
    return redirect(SIGN_IN, 303)
