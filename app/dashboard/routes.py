"""Pages for people, and what the playground's page asks for."""

import uuid

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from app.accounts import sessions
from app.accounts.guards import current_login, current_session_token, delete_session_cookie
from app.accounts.sessions import WrongCredentials
from app.accounts.throttle import TooManyAttempts
from app.core.database import transaction
from app.core.settings import current_settings
from app.core.wire.serialization import dumps
from app.dashboard.entrance import is_signed_in, open_session, show_form
from app.dashboard.pages import SIGN_IN, add_headers, protect, refuse_on_page, render
from app.dashboard.playground import NoPlayground, Playground
from app.dashboard.queries import NoSuchInteraction, interaction_record, workspace_products
from app.dashboard.rules import MODES, local_path

entrance = Blueprint("dashboard", __name__, template_folder="templates", static_folder="static")
pages = Blueprint("pages", __name__)
playground = Blueprint("playground", __name__)

protect(entrance)
protect(pages)
playground.after_request(add_headers)
playground.register_error_handler(NoPlayground, refuse_on_page)


@entrance.get(SIGN_IN)
def sign_in_form() -> AnyResponse:
    """Show where to sign in; who is signed in already goes on."""
    wanted = local_path(request.args.get("next", ""))
    return redirect(wanted, 303) if is_signed_in() else show_form(wanted)


@entrance.post(SIGN_IN)
def sign_in() -> AnyResponse:
    """Sign in by form."""
    wanted = local_path(request.form.get("next", ""))
    try:
        open_session()
    except (WrongCredentials, TooManyAttempts) as refusal:
        return show_form(wanted, refusal)
    return redirect(wanted, 303)


@pages.get("/")
def home() -> Response:
    """Show the workspace's products and environments."""
    with transaction():
        products = workspace_products(current_login().workspace_id)
    return render("home.html", products=products, modes=MODES)


@pages.post("/sign-out")
def sign_out() -> AnyResponse:
    """Sign out by form."""
    with transaction():
        sessions.revoke_session(current_session_token())
        delete_session_cookie()
    return redirect(SIGN_IN, 303)


def _playground() -> Playground:
    settings = current_settings()
    return Playground(settings)


def _answer(body: object) -> Response:
    return Response(dumps(body), mimetype="application/json", headers={"Cache-Control": "no-store"})


@playground.get("")
def loop() -> Response:
    """Show the loop, step by step."""
    _playground()
    return render("playground.html")


@playground.post("/product")
def product_answers() -> Response:
    """Answer as the demo product."""
    return _answer(_playground().answer())


@playground.post("/telemetry/<uuid:interaction_id>")
def backend_tells(interaction_id: uuid.UUID) -> Response:
    """Send the demo product's telemetry."""
    return _answer(_playground().tell(interaction_id))


@playground.get("/interactions/<uuid:interaction_id>")
def stored(interaction_id: uuid.UUID) -> Response:
    """Show what is stored of a demo interaction; null while nothing is."""
    environment_id = _playground().environment_id
    with transaction():
        try:
            return _answer(interaction_record(environment_id, interaction_id))
        except NoSuchInteraction:
            return _answer(None)
