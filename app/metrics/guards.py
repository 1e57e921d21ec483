"""The guard of the metrics: a port of their own, or a token on the port of the service."""

import hmac
from collections.abc import Iterable
from typing import Any

from flask import Flask, request
from werkzeug.exceptions import NotFound
from werkzeug.wrappers import Response

from app.core.errors import InvalidBearerToken
from app.core.http.errors import JSON_HEADERS
from app.core.http.mounts import Guard
from app.core.settings import current_settings
from app.core.wire.serialization import dumps
from app.tokens.guards import bearer

PATH = "/metrics"


class InvalidMetricsToken(InvalidBearerToken):
    """No valid token of the metrics."""

    sentence = "This endpoint takes the token of the setting AGENT_FEEDBACK_METRICS_TOKEN, as a Bearer token."


def _authenticate() -> None:
    access = current_settings().metrics
    assert access is not None
    if access.port is not None and request.environ["SERVER_PORT"] == str(access.port):
        return
    if access.token is None:
        # On the port of the service there is nothing at this address.
        raise NotFound
    token = bearer(InvalidMetricsToken)
    if not hmac.compare_digest(token.encode(), access.token.reveal().encode()):
        raise InvalidMetricsToken


METRICS_READER = Guard("metricsReader", _authenticate)


def restrict_port(app: Flask, port: int) -> None:
    """Answer nothing but the metrics on their port: the service has one of its own."""
    wsgi_app = app.wsgi_app
    body = dumps({"error": "There is nothing at this address.", "code": "not_found"})

    def serve(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["SERVER_PORT"] == str(port) and environ["PATH_INFO"] != PATH:
            return Response(body, 404, JSON_HEADERS)(environ, start_response)
        return wsgi_app(environ, start_response)

    app.wsgi_app = serve  # type: ignore[method-assign]  # Flask's documented way
