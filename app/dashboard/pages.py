"""What all pages have in common: how they are rendered, what protects them, and how a refusal looks on one."""

from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, g, redirect, render_template, request
from werkzeug.wrappers import Response as AnyResponse

from app.core.errors import Unauthorized
from app.core.http.blueprint import PRIVATE
from app.core.http.errors import error_response
from app.core.settings import current_settings
from app.dashboard.forms import check_form, form_token
from app.dashboard.playground import has_playground
from app.dashboard.rules import HOME

SIGN_IN = "/sign-in"

# Everything a page needs comes from here; nothing it shows can be framed or run anything else.
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'self'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`, with which a browser names no origin when it sends a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": PRIVATE,
}


def protect(blueprint: Blueprint) -> None:
    """Give a blueprint of pages what each must have: headers, tokens in forms, and refusals that people can read."""
    blueprint.before_request(check_form)
    blueprint.after_request(add_headers)
    blueprint.register_error_handler(Exception, refuse_on_page)


def render(template: str, status: int = 200, **content: Any) -> Response:
    """Return a page."""
    settings = current_settings()
    text = render_template(
        template,
        login=g.get("login"),
        form_token=form_token,
        has_playground=has_playground(settings),
        **content,
    )
    return Response(text, status)


def refuse_on_page(error: Exception) -> AnyResponse:
    """Tell a refusal on a page; who is not signed in is sent to do so, and back again."""
    if isinstance(error, Unauthorized):
        return redirect(_sign_in_path(), 303)
    refused = error_response(error)
    if refused.status_code >= 400:
        sentence = refused.get_json()["error"]
        refused.set_data(render("refused.html", sentence=sentence, number=refused.status_code).get_data())
        refused.mimetype = "text/html"
    return refused


def _sign_in_path() -> str:
    wanted = request.full_path.rstrip("?")
    if request.method != "GET" or wanted == HOME:
        return SIGN_IN
    return f"{SIGN_IN}?{urlencode({'next': wanted})}"


def add_headers(response: Response) -> Response:
    """Protect a response, unless it says something else itself."""
    for name, value in PAGE_HEADERS.items():
        response.headers.setdefault(name, value)
    return response
