"""HTTP endpoints of login sessions; app/dashboard has the sign-in page."""

from typing import Any

from app.accounts import sessions
from app.accounts import sign_in as sign_in_steps
from app.accounts.guards import (
    current_client,
    current_login,
    current_session_token,
    delete_session_cookie,
    presented_token,
    set_session_cookie,
)
from app.accounts.schemas import Credentials, CredentialsSchema, LoginSchema
from app.accounts.sessions import Login
from app.core.http.blueprint import Blueprint

sign_in = Blueprint("sign_in", __name__, title="Sign-in", description="Signing in to the dashboard.")
login = Blueprint("login", __name__, title="Dashboard session", description="Who is signed in to the dashboard.")


@sign_in.post("/session", operation_id="signIn")
@sign_in.arguments(CredentialsSchema, may_have_account_data=True)
@sign_in.response(200, LoginSchema, errors=(401, 403, 429))
def open_session(credentials: Credentials) -> dict[str, Any]:
    """Sign in; the response sets the session's cookie.

    A user with a second factor sends its current code too, and is otherwise answered with `second_factor_required`. A
    session that the request presents ends. A user with several workspaces signs in to the one joined first.
    """
    new_session = sign_in_steps.sign_in(credentials, current_client(), presented_token())
    set_session_cookie(new_session.token)
    return _login_body(new_session.login)


@login.get("/session", operation_id="getSession")
@login.response(200, LoginSchema)
def get_session() -> dict[str, Any]:
    """Return the signed-in user and the workspace.

    The workspace is the one that the session was opened in.
    """
    return _login_body(current_login())


@login.delete("/session", operation_id="signOut")
@login.response(204, errors=(403,))
def close_session() -> None:
    """Sign out.

    The session ends at once, and the answer takes its cookie back.
    """
    sessions.revoke_session(current_session_token())
    delete_session_cookie()


def _login_body(login: Login) -> dict[str, Any]:
    return {
        "user": {"id": login.user_id, "email": login.email, "role": login.role},
        "workspace": {"id": login.workspace_id, "name": login.workspace_name},
    }
