"""Convert exceptions into responses with the service's error body."""

import logging
from collections.abc import Mapping
from typing import Any

import psycopg2
from flask import Response, g
from sqlalchemy import exc
from werkzeug.exceptions import HTTPException

from app.core.errors import STATUSES_WITH_PROBLEMS, ApiError, DatabaseUnavailable, Problem
from app.core.metrics.counting import count
from app.core.metrics.families import REFUSALS
from app.core.wire.serialization import dumps

JSON_HEADERS = {"Content-Type": "application/json"}

_DATABASE_ERRORS = (psycopg2.OperationalError, psycopg2.InterfaceError, exc.OperationalError, exc.TimeoutError)

_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take this method; Allow names those that it takes.",
}

logger = logging.getLogger("agent_feedback")


def error_response(error: Exception) -> Response:
    """Return the response to an exception; one that is no `ApiError` is logged and answered without its message."""
    if isinstance(error, ApiError):
        return _response(error.as_dict(g.request_id), error.status, error.headers)
    if isinstance(error, HTTPException):
        return _framework_response(error)
    if isinstance(error, _DATABASE_ERRORS):
        logger.warning("the database did not answer", extra={"requestId": g.request_id, "error": type(error).__name__})
        return error_response(DatabaseUnavailable())
    logger.error("unexpected exception", exc_info=error, extra={"requestId": g.request_id})
    return error_response(ApiError())


def _framework_response(error: HTTPException) -> Response:
    """Return an error of Flask or Werkzeug in the service's own shape."""
    if error.code is None or error.code < 400:
        return error.get_response()  # type: ignore[return-value]  # Flask's response class is Werkzeug's
    sentence, code = _SENTENCES.get(error.code, f"{error.name}."), error.name.lower().replace(" ", "_")
    body: dict[str, Any] = {"error": sentence, "code": code, "requestId": g.request_id}
    if error.code in STATUSES_WITH_PROBLEMS:
        body["errors"] = [Problem("", code, sentence).as_dict()]
    replaced_headers = ("content-type", "content-length")
    headers = {name: value for name, value in error.get_headers() if name.lower() not in replaced_headers}
    return _response(body, error.code, headers)


def _response(body: dict[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    count(REFUSALS, str(body["code"]), str(status))
    return Response(dumps(body), status, {**JSON_HEADERS, "Cache-Control": "no-store", **headers})
