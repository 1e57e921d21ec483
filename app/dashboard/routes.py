"""Pages for people, and what the playground's page asks for."""

import uuid

from flask import Blueprint, Response, current_app, render_template

from app.core import json
from app.core.database import transaction
from app.dashboard.playground import NoPlayground, Playground
from app.dashboard.queries import NoSuchInteraction, interaction_record
from config.settings import Settings

blp = Blueprint("dashboard", __name__, template_folder="templates", static_folder="static", static_url_path="/static")

# Everything a page needs comes from here; nothing it shows can be framed or run anything else.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def _playground() -> Playground:
    settings: Settings = current_app.extensions["settings"]
    return Playground(settings)


def _answer(body: object) -> Response:
    return Response(json.dumps(body), mimetype="application/json", headers={"Cache-Control": "no-store"})


@blp.get("/")
def home() -> Response:
    """Show the playground, or in production where to go."""
    try:
        _playground()
    except NoPlayground:
        return Response(render_template("home.html"), headers=PAGE_HEADERS)
    return Response(render_template("playground.html"), headers=PAGE_HEADERS)


@blp.post("/playground/product")
def product_answers() -> Response:
    """Answer as the demo product."""
    return _answer(_playground().answer())


@blp.post("/playground/telemetry/<uuid:interaction_id>")
def backend_tells(interaction_id: uuid.UUID) -> Response:
    """Send the demo product's telemetry."""
    return _answer(_playground().tell(interaction_id))


@blp.get("/playground/interactions/<uuid:interaction_id>")
def stored(interaction_id: uuid.UUID) -> Response:
    """Show what is stored of a demo interaction; null while nothing is."""
    environment_id = _playground().environment_id
    with transaction():
        try:
            return _answer(interaction_record(environment_id, interaction_id))
        except NoSuchInteraction:
            return _answer(None)
