"""The blueprint of pages, and the rendering of pages and of errors as pages."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, g, redirect, render_template, request
from werkzeug.exceptions import MethodNotAllowed, NotFound
from werkzeug.wrappers import Response as AnyResponse

from app.accounts.guards import SAFE_METHODS, current_login, presented_token, recognise_login, require_role
from app.accounts.throttle import TooManyAttempts
from app.core.database import roll_back, transaction
from app.core.errors import ApiError, Unauthorized
from app.core.http.blueprint import PRIVATE, private_json
from app.core.http.errors import error_response
from app.core.settings import current_settings
from app.core.wire.serialization import dumps
from app.dashboard.demo_company import has_demo_company
from app.dashboard.forms import check_form
from app.dashboard.lists import FORMATS, ItemList, export_response
from app.dashboard.navigation import section_of
from app.dashboard.rules import HOME
from app.dashboard.scope import current_scope, current_workspaces, forget_scope, renew_scope

SIGN_IN = "/sign-in"

MINUTE_S = 60

API_PREFIXES = ("/api/", "/.well-known/", "/sdk/")
"""Paths of programs, whose errors are JSON whatever the request accepts."""

# A page loads everything from this service, and nothing that it shows can be framed or run code.
CONTENT_POLICY = "default-src 'self'; object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
PAGE_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not `no-referrer`, with which a browser sends no Origin with a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": PRIVATE,
}
# A year. Without includeSubDomains, since the hosts below ours need not be ours.
HTTPS_ONLY = {"Strict-Transport-Security": "max-age=31536000"}

View = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Page:
    """The variables of a page's template, and the status and headers of its response."""

    variables: dict[str, Any]
    status: int = 200
    headers: dict[str, str] | None = None


class PageBlueprint(Blueprint):
    """A blueprint of pages, with their headers, the check of form tokens, and errors as pages.

    Each view runs in one transaction, which is rolled back where the response is an error. With `has_login`, for mounts
    whose guard is a session, it takes the `Login` as its first argument; with `has_scope` the `Scope`, and a workspace
    without an environment is told how to get one. A form of these takes a role that may change things, unless
    `is_personal`: then it is about the user alone.
    `has_forms` tells whether requests that change something need a form token.
    """

    def __init__(
        self,
        name: str,
        *,
        has_login: bool = False,
        has_scope: bool = False,
        is_personal: bool = False,
        has_forms: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(name, __name__, **options)
        self.has_login, self.has_scope, self.is_personal = has_login, has_scope, is_personal
        if has_forms:
            self.before_request(check_form)
        self.after_request(add_page_headers)
        self.register_error_handler(Exception, error_page)

    def page(self, path: str, template: str) -> Callable[[View], View]:
        """Register a view that answers GET with a `Page` or a response."""
        return self._register(path, "GET", functools.partial(_page_response, template))

    def form(self, path: str, template: str = "") -> Callable[[View], View]:
        """Register a view that takes a form by POST and returns a response, or a `Page` to show the form again."""
        return self._register(path, "POST", functools.partial(_page_response, template))

    def step(self, path: str, method: str) -> Callable[[View], View]:
        """Register a view that a page's script calls, and that returns the JSON body."""
        return self._register(path, method, lambda body: private_json(dumps(body), 200))

    def export(self, path: str = "/export", endpoint: str = "export") -> Callable[[View], View]:
        """Register a view that returns a list, all of which is downloaded as CSV or NDJSON.

        `list_page` links to the endpoint with the filters of its page.
        """

        def decorator(view: View) -> View:
            def export(*arguments: Any, file_format: str, **values: Any) -> Response:
                items: ItemList = view(*arguments, **values)
                return export_response(items, file_format)

            rule = f"{path}.<any({','.join(FORMATS)}):file_format>"
            self._register(rule, "GET", lambda response: response, endpoint)(export)
            return view

        return decorator

    def _register(
        self, path: str, method: str, respond: Callable[[Any], AnyResponse], endpoint: str | None = None
    ) -> Callable[[View], View]:
        def decorator(view: View) -> View:
            @functools.wraps(view)
            def wrapper(**arguments: Any) -> AnyResponse:
                with transaction():
                    response = self._respond(view, arguments, respond)
                    # Failed attempts are counted in transactions of their own, and stay.
                    if response.status_code >= 400:
                        roll_back()
                    return response

            # With strict slashes, Flask would redirect to an address that it makes from Host.
            self.add_url_rule(path, endpoint, wrapper, methods=[method], strict_slashes=False)
            return view

        return decorator

    def _respond(self, view: View, arguments: dict[str, Any], respond: Callable[[Any], AnyResponse]) -> AnyResponse:
        if not (self.has_login or self.has_scope):
            return respond(view(**arguments))
        if request.method not in SAFE_METHODS and not self.is_personal:
            require_role()
        # Here, since an address with the environment of somebody else is unknown also where a view needs none.
        scope = current_scope()
        if self.has_login:
            return respond(view(current_login(), **arguments))
        if scope is None:
            return render("no_environment/page.html", Page({}))
        return respond(view(scope, **arguments))


def _page_response(template: str, result: Page | AnyResponse) -> AnyResponse:
    return render(template, result) if isinstance(result, Page) else result


def render(template: str, page: Page) -> Response:
    """Return a page as a response."""
    text = render_template(
        template,
        login=g.get("login"),
        scope=current_scope(),
        workspaces=current_workspaces(),
        section=section_of(request.endpoint),
        has_playground=has_demo_company(current_settings()),
        **page.variables,
    )
    return Response(text, page.status, page.headers)


def page_with_error(variables: dict[str, Any], error: ApiError | None) -> Page:
    """Return a page that shows the error of its form, with the error's status, or none."""
    variables["error"] = retry_sentence(error)
    return Page(variables) if error is None else Page(variables, error.status, dict(error.headers))


def retry_sentence(error: ApiError | None) -> str | None:
    """Return the sentence that a form is shown again with."""
    if not isinstance(error, TooManyAttempts):
        return str(error) if error else None
    wait_s = error.retry_after_s
    wait = f"{wait_s} seconds" if wait_s <= MINUTE_S else f"{-(-wait_s // MINUTE_S)} minutes"
    return f"There were too many attempts. Please wait {wait} and try again."


def error_page(error: Exception) -> AnyResponse:
    """Return an error as a page, or as JSON for a script of the page.

    A visitor who is not signed in is sent to the sign-in page, and back afterwards.
    """
    if _preference() < 0:
        return error_response(error)
    if isinstance(error, Unauthorized):
        # htmx would put the page into the part that it replaces.
        is_part = "HX-Request" in request.headers
        return Response(status=204, headers={"HX-Redirect": SIGN_IN}) if is_part else redirect(_sign_in_path(), 303)
    response = error_response(error)
    if response.status_code >= 400:
        page = Page({"sentence": response.get_json()["error"], "status": response.status_code})
        response.set_data(_render_error(page).get_data())
        response.mimetype = "text/html"
    return response


def _render_error(page: Page) -> Response:
    """Return the page of an error in the frame of who is signed in; for that of a failure nothing is read."""
    if page.variables["status"] >= 500:
        forget_scope()
        return render("error/page.html", page)
    with transaction():
        renew_scope()
        return render("error/page.html", page)


def answer_without_route(error: NotFound | MethodNotAllowed) -> AnyResponse:
    """Answer a request for which there is no view: with a page for a browser, with JSON for a program.

    Whoever presents a session reads pages, unless the request prefers JSON.
    """
    has_session = presented_token() is not None
    is_page = (_preference() > 0 or (has_session and _preference() == 0)) and not f"{request.path}/".startswith(
        API_PREFIXES
    )
    if is_page:
        recognise_login()
    response = add_page_headers(error_page(error)) if is_page else error_response(error)
    response.vary.add("Accept")
    return response


def _preference() -> float:
    """Return a positive number if the request prefers HTML to JSON, a negative one if JSON, and 0 if neither."""
    mimetypes = request.accept_mimetypes
    return mimetypes["text/html"] - mimetypes["application/json"]


def _sign_in_path() -> str:
    next_path = request.full_path.rstrip("?")
    if request.method != "GET" or next_path == HOME:
        return SIGN_IN
    return f"{SIGN_IN}?{urlencode({'next': next_path})}"


def add_page_headers(response: AnyResponse) -> AnyResponse:
    """Add the security headers of pages, except those that the response has."""
    headers = PAGE_HEADERS | HTTPS_ONLY if current_settings().has_https else PAGE_HEADERS
    for name, value in headers.items():
        response.headers.setdefault(name, value)
    return response
