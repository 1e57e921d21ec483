"""The OpenAPI description of an app, and the mounting of its blueprints."""

import marshmallow
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask, Response
from flask_smorest import Api as SmorestApi
from werkzeug.exceptions import HTTPException

from app.core.http.blueprint import Blueprint
from app.core.http.errors import error_response
from app.core.http.mounts import Mount
from app.core.wire.decoder import DocumentCheck
from app.core.wire.fields import Choice, Field, Flag, Instant, Integer, Number, Text
from config.settings import Settings


class ProblemSchema(marshmallow.Schema):
    """One thing that is wrong with a request."""

    pointer = marshmallow.fields.String(required=True, metadata={"description": "JSON pointer into the body."})
    code = marshmallow.fields.String(required=True)
    message = marshmallow.fields.String(required=True)
    allowed = marshmallow.fields.List(marshmallow.fields.String())
    min = marshmallow.fields.Float()
    max = marshmallow.fields.Float()
    pattern = marshmallow.fields.String()
    rule = marshmallow.fields.String(metadata={"description": "Which screening rule a text met."})


class ErrorSchema(marshmallow.Schema):
    """Every error body."""

    error = marshmallow.fields.String(required=True, metadata={"description": "One sentence for the reader."})
    code = marshmallow.fields.String(required=True, metadata={"description": "A slug for the program."})
    requestId = marshmallow.fields.String(required=True)
    errors = marshmallow.fields.List(
        marshmallow.fields.Nested(ProblemSchema), metadata={"description": "With 400 and 422: every problem."}
    )


_JSON_TYPES: dict[type[Field], tuple[str, str | None]] = {
    Text: ("string", None),
    Choice: ("string", None),
    Instant: ("string", "date-time"),
    Number: ("number", None),
    Integer: ("integer", None),
    Flag: ("boolean", None),
}


class Api(SmorestApi):  # type: ignore[misc]  # flask-smorest has no types
    """The OpenAPI description of one app."""

    ERROR_SCHEMA = ErrorSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask, *, document_check: DocumentCheck) -> None:
        app.extensions["document_check"] = document_check
        super().__init__(app, spec_kwargs={"marshmallow_plugin": MarshmallowPlugin()})
        for field, (type_, format_) in _JSON_TYPES.items():
            self.register_field(field, type_, format_)

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Return the framework's own errors in the service's shape."""
        return error_response(error)

    def mount(self, mount: Mount) -> None:
        """Register a blueprint under its prefix and guard, and describe it."""
        assert isinstance(mount.blueprint, Blueprint)
        mount.blueprint.guard = mount.guard
        if mount.guard.credential:
            settings: Settings = self._app.extensions["settings"]
            self.spec.components.security_schemes.setdefault(mount.guard.name, mount.guard.security_scheme(settings))
        self.register_blueprint(mount.blueprint, url_prefix=mount.prefix)
        self._app.extensions.setdefault("mounts", {})[mount.blueprint.name] = mount

    def mount_page(self, mount: Mount) -> None:
        """Register a blueprint of pages, which the description leaves out."""
        self._app.register_blueprint(mount.blueprint, url_prefix=mount.prefix)
        self._app.extensions.setdefault("mounts", {})[mount.blueprint.name] = mount
