"""What surrounds every request: its id, its log line, and the shape of its refusal."""

import contextlib
import logging
import os
import re
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg2
from flask import Flask, Request, Response, g, request
from sqlalchemy import exc
from werkzeug.exceptions import HTTPException
from werkzeug.middleware.proxy_fix import ProxyFix

from app.core import json
from app.core.doors import Door
from app.core.errors import DatabaseAway, Refusal

_SAFE_REQUEST_ID = re.compile(r"[A-Za-z0-9_.-]{8,64}\Z")
_DATABASE_ERRORS = (psycopg2.OperationalError, psycopg2.InterfaceError, exc.OperationalError, exc.TimeoutError)

STANDARD_ERROR = 2

JSON_HEADERS = {"Content-Type": "application/json"}

PREFLIGHT_HEADERS = {
    "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "7200",
}

access = logging.getLogger("agent_feedback.access")
logger = logging.getLogger("agent_feedback")


class JsonFormatter(logging.Formatter):
    """One JSON object a line. A traceback is told by its frames: a message could repeat what a caller sent."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line.update({name: value for name, value in record.__dict__.items() if name not in _USUAL})
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["frames"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line).decode()


def _message(record: logging.LogRecord) -> str:
    """Return what a record says; of a task that failed only that it did, for its exception may repeat a value."""
    message = record.getMessage()
    is_about_a_task = record.name in ("celery.app.trace", "celery.worker.request")
    has_succeeded = "%(return_value)s" in str(record.msg)
    return message.split(": ")[0] if is_about_a_task and not has_succeeded else message


# `data` is Celery's, and holds the text of a task's exception.
_USUAL = {"data", *logging.makeLogRecord({}).__dict__, "message", "asctime"}


def install_logging(level: str) -> None:
    """Write JSON lines to standard error, ours and the libraries'."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    logging.captureWarnings(True)
    # Without this, libraries that were set up before would write lines of their own shape.
    logging.getLogger("werkzeug").setLevel(logging.WARNING)


def trust_proxies(app: Flask, number: int) -> None:
    """Take a client's address from X-Forwarded-For, as the given number of proxies in front has written it."""
    if number:
        # Nothing else is taken from them: addresses of ours come from the settings.
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=number, x_proto=0, x_host=0)  # type: ignore[method-assign]


class Service(Flask):
    """A Flask app whose views are all plain functions, which saves asking each of them."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function as it is."""
        return func


def install(app: Flask) -> None:
    """Give every request an id, its guard and a log line, and every refusal the one error body.

    One function before and one after each request: on the hot paths every call counts.
    """
    doors: dict[str | None, Door] = app.extensions.setdefault("doors", {})

    @app.before_request
    def begin() -> None:
        state, asked = g._get_current_object(), request._get_current_object()  # type: ignore[attr-defined]
        state.began = time.perf_counter()
        given = asked.headers.get("X-Request-Id")
        state.request_id = given if given and _SAFE_REQUEST_ID.match(given) else uuid.uuid4().hex
        state.door = doors.get(asked.blueprint)
        if state.door is not None and asked.method != "OPTIONS":
            state.door.guard.admit()

    @app.after_request
    def finish(response: Response) -> Response:
        state, asked = g._get_current_object(), request._get_current_object()  # type: ignore[attr-defined]
        response.headers["X-Request-Id"] = state.request_id
        if state.door is not None and state.door.is_open_to_browsers:
            response.headers["Access-Control-Allow-Origin"] = "*"
            response.headers["Access-Control-Expose-Headers"] = "X-Request-Id, Retry-After"
            if asked.method == "OPTIONS":
                response.headers.update(PREFLIGHT_HEADERS)
        _log_access(asked, response, state.request_id, time.perf_counter() - state.began)
        return response

    app.register_error_handler(Exception, refuse)


def _log_access(asked: Request, response: Response, request_id: str, seconds: float) -> None:
    """Write the request's line, past the logging library: it would cost more than the rest of this file."""
    # The platform asks for our health every few seconds; that is news only when it is bad.
    if not access.isEnabledFor(logging.INFO) or (asked.blueprint == "health" and response.status_code < 500):
        return
    line = {
        "at": datetime.now(UTC),
        "level": "info",
        "logger": access.name,
        "message": "request",
        "requestId": request_id,
        "method": asked.method,
        # The rule, not the path: a path may hold anything that somebody typed.
        "route": asked.url_rule.rule if asked.url_rule else None,
        "status": response.status_code,
        "durationMs": round(seconds * 1000, 2),
    }
    # Nobody may be reading any more; what was stored is answered all the same.
    with contextlib.suppress(OSError):
        os.write(STANDARD_ERROR, json.dumps(line) + b"\n")


_SENTENCES = {
    404: "There is nothing at this address.",
    405: "This address does not take this method; Allow names those that it takes.",
    413: "The body is larger than this endpoint takes.",
}


def refuse(error: Exception) -> Response:
    """Turn whatever was raised into the one error body."""
    if isinstance(error, Refusal):
        return _answer(error.as_dict(g.request_id), error.status, error.headers)
    if isinstance(error, HTTPException):
        return _refuse_plainly(error)
    if isinstance(error, _DATABASE_ERRORS):
        logger.warning("the database did not answer", extra={"requestId": g.request_id, "error": type(error).__name__})
        return refuse(DatabaseAway())
    logger.error("unforeseen", exc_info=error, extra={"requestId": g.request_id})
    return refuse(Refusal())


def _refuse_plainly(error: HTTPException) -> Response:
    """Give an error of the framework our own shape."""
    if error.code is None or error.code < 400:
        return error.get_response()  # type: ignore[return-value]
    body = {
        "error": _SENTENCES.get(error.code, f"{error.name}."),
        "code": error.name.lower().replace(" ", "_"),
        "requestId": g.request_id,
    }
    kept = {
        name: value for name, value in error.get_headers() if name.lower() not in ("content-type", "content-length")
    }
    return _answer(body, error.code, kept)


def _answer(body: dict[str, Any], status: int, headers: Mapping[str, str]) -> Response:
    return Response(json.dumps(body), status, {**JSON_HEADERS, "Cache-Control": "no-store", **headers})
