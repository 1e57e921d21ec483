"""The home page: the workspace's products and environments."""

from werkzeug.utils import redirect
from werkzeug.wrappers import Response

from app.accounts import sessions
from app.accounts.guards import current_session_token, delete_session_cookie
from app.accounts.sessions import Login
from app.dashboard.pages import SIGN_IN, Page, PageBlueprint
from app.dashboard.queries import list_products
from app.dashboard.rules import MODE_LABELS

pages = PageBlueprint("pages", has_login=True)


@pages.page("/", "home/page.html")
def home(login: Login) -> Page:
    """Show the workspace's products and environments."""
    return Page({"products": list_products(login.workspace_id), "modes": MODE_LABELS})


@pages.form("/sign-out")
def sign_out(_: Login) -> Response:
    """Sign out, and show the sign-in page."""
    sessions.revoke_session(current_session_token())
    delete_session_cookie()
    return redirect(SIGN_IN, 303)
