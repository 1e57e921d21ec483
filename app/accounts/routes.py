"""Signing in over HTTP, for scripts; people have a page."""

from typing import Any

from app.accounts import sessions
from app.accounts.guards import (
    client_address,
    current_login,
    current_session_token,
    give_session,
    presented_token,
    take_session_back,
)
from app.accounts.schemas import Credentials, CredentialsSchema, LoginSchema
from app.accounts.sessions import Login
from app.core.http.blueprint import Blueprint

sign_in = Blueprint("sign_in", __name__, title="Sign-in", description="Signing in to the dashboard.")
login = Blueprint("login", __name__, title="Dashboard session", description="Who is signed in to the dashboard.")


@sign_in.post("/session", operation_id="signIn")
@sign_in.arguments(CredentialsSchema, may_name_account=True)
@sign_in.response(200, LoginSchema, errors=(401, 403, 429))
def open_session(given: Credentials) -> dict[str, Any]:
    """Sign in; the session's cookie comes with the answer.

    A session that the request presents ends. Who has several workspaces signs in to the one that they joined first.
    """
    opened = sessions.sign_in(given.email, given.password, client_address(), presented_token())
    give_session(opened.token)
    return _shown(opened.login)


@login.get("/session", operation_id="getSession")
@login.response(200, LoginSchema)
def tell_session() -> dict[str, Any]:
    """Tell who is signed in, and where.

    The workspace is the one that the session was opened in.
    """
    return _shown(current_login())


@login.delete("/session", operation_id="signOut")
@login.response(204, errors=(403,))
def close_session() -> None:
    """Sign out.

    The session ends at once, and the answer takes its cookie back.
    """
    sessions.revoke_session(current_session_token())
    take_session_back()


def _shown(known: Login) -> dict[str, Any]:
    return {
        "user": {"id": known.user_id, "email": known.email, "role": known.role},
        "workspace": {"id": known.workspace_id, "name": known.workspace_name},
    }
