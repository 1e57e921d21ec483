"""Hooks of every request: its id, its limits, its guard, its CORS headers and its log line."""

import re
import time
import uuid

from flask import Flask, Response, g, request
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core.errors import CLOSE
from app.core.http.access_log import write_access_line
from app.core.http.body import has_unread_body
from app.core.http.errors import error_response
from app.core.http.limits import authenticate, count_address
from app.core.http.mounts import Mount
from app.core.metrics.counting import Metrics
from app.core.metrics.families import REFUSALS, REQUESTS
from config.web_rejections import Rejection, set_listener

NO_ROUTE = NO_METHOD = "none"

_SAFE_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}\Z")

CORS_HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "X-Request-Id, Retry-After, RateLimit, RateLimit-Policy",
}
PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "7200",
}


def trust_proxies(app: Flask, count: int) -> None:
    """Take a client's address from X-Forwarded-For, as the given number of proxies in front has written it."""
    if count:
        # Nothing else is taken from them: addresses of ours come from the settings.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=count, x_proto=0, x_host=0)  # type: ignore[method-assign]  # Flask's documented way


def install(app: Flask) -> None:
    """Give every request an id, its mount's guard and a log line, and every error the one error body.

    One function before and one after each request: on the hot paths every call counts.
    """
    mounts: dict[str | None, Mount] = app.extensions.setdefault("mounts", {})
    # Flask would redirect `//path` to an address that it makes from Host.
    app.url_map.merge_slashes = False

    @app.before_request
    def begin() -> None:
        context, current = g._get_current_object(), request._get_current_object()  # type: ignore[attr-defined]  # a proxy's own method
        context.started_at = time.perf_counter()
        request_id = current.headers.get("X-Request-Id")
        context.request_id = request_id if request_id and _SAFE_REQUEST_ID.match(request_id) else uuid.uuid4().hex
        mount = context.mount = mounts.get(current.blueprint)
        if mount is None or mount.is_limited:
            count_address()
        if mount is not None and current.method != "OPTIONS":
            authenticate(mount)

    @app.after_request
    def finish(response: Response) -> Response:
        context, current = g._get_current_object(), request._get_current_object()  # type: ignore[attr-defined]  # a proxy's own method
        response.headers["X-Request-Id"] = context.request_id
        if context.mount is not None and context.mount.cors:
            _add_cors_headers(response, is_preflight=current.method == "OPTIONS")
        if has_unread_body(current):
            response.headers.update(CLOSE)
        write_access_line(current, response, context.request_id, time.perf_counter() - context.started_at)
        return response

    app.register_error_handler(Exception, error_response)


def count_requests(app: Flask, metrics: Metrics) -> None:
    """Count every request and observe its duration, by the rule of its URL: anybody can make up paths."""

    @app.after_request
    def count(response: Response) -> Response:
        current = request._get_current_object()  # type: ignore[attr-defined]  # a proxy's own method
        route = current.url_rule.rule if current.url_rule else NO_ROUTE
        metrics.count_request(route, current.method, response.status_code, time.perf_counter() - g.started_at)
        return response

    def count_rejection(rejection: Rejection) -> None:
        metrics.count(REQUESTS, NO_ROUTE, NO_METHOD, str(rejection.status))
        metrics.count(REFUSALS, rejection.code, str(rejection.status))

    # gunicorn's worker answers what is late or no HTTP.
    set_listener(count_rejection)


def _add_cors_headers(response: Response, *, is_preflight: bool) -> None:
    response.headers.update(CORS_HEADERS)
    if is_preflight:
        response.headers.update(PREFLIGHT_HEADERS)
        response.headers["Access-Control-Allow-Methods"] = ", ".join(sorted(response.allow))
