"""The OpenAPI description of an app, and the mounting of its blueprints."""

from http import HTTPStatus
from pathlib import Path
from typing import Any

from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask, Response
from flask_smorest import Api as SmorestApi
from werkzeug.exceptions import HTTPException

from app.core.http.blueprint import Blueprint
from app.core.http.error_docs import ErrorSchema, error_responses
from app.core.http.errors import error_response
from app.core.http.mounts import Mount
from app.core.wire.decoder import DocumentCheck
from app.core.wire.fields import Choice, Field, Flag, Instant, Integer, Number, Text
from config.settings import Settings

INFO = {
    "description": Path(__file__).with_name("introduction.md").read_text(),
    "license": {"name": "MIT", "url": "https://opensource.org/license/mit"},
}

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
        super().__init__(app, spec_kwargs={"marshmallow_plugin": MarshmallowPlugin(), "info": INFO})
        for field, (type_, format_) in _JSON_TYPES.items():
            self.register_field(field, type_, format_)
        self.ma_plugin.converter.add_attribute_function(_nullable_reference)

    def _register_responses(self) -> None:
        """Define the error responses, which the operations refer to by name."""
        for status, response in error_responses().items():
            self.spec.components.response(HTTPStatus(status).name, response, lazy=True)

    def _register_pagination_header(self) -> None:
        """Define nothing: a page says in its body where the next one begins."""

    def _register_etag_headers(self) -> None:
        """Define nothing: an ETag of the service is never sent back in a request that changes something."""

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Return the framework's own errors in the service's shape."""
        return error_response(error)

    def mount(self, mount: Mount) -> None:
        """Register a blueprint under its prefix and guard, and describe it."""
        assert isinstance(mount.blueprint, Blueprint)
        mount.blueprint.guard, mount.blueprint.is_limited = mount.guard, mount.is_limited
        if mount.guard.credential:
            settings: Settings = self._app.extensions["settings"]
            self.spec.components.security_schemes.setdefault(mount.guard.name, mount.guard.security_scheme(settings))
        self.register_blueprint(mount.blueprint, url_prefix=mount.prefix)
        self._app.extensions.setdefault("mounts", {})[mount.blueprint.name] = mount

    def register_blueprint(self, blp: Blueprint, **options: Any) -> None:
        """Register a blueprint and describe it under its title, where flask-smorest would use its name."""
        self._app.extensions["flask-smorest"]["blp_name_to_api"][blp.name] = self
        self._app.register_blueprint(blp, **options)
        blp.register_views_in_doc(self, self._app, self.spec, name=blp.name, parameters=None)
        self.spec.tag({"name": blp.title, "description": blp.description})

    def mount_undescribed(self, mount: Mount) -> None:
        """Register a blueprint under its prefix and guard, and leave it out of the description."""
        self._app.register_blueprint(mount.blueprint, url_prefix=mount.prefix)
        self._app.extensions.setdefault("mounts", {})[mount.blueprint.name] = mount


def _nullable_reference(_: Any, field: Any, ret: dict[str, Any], **__: Any) -> dict[str, Any]:
    """Describe a nested object or null; apispec's own words for it would allow every object."""
    reference = next((entry for entry in ret.get("anyOf", ()) if "$ref" in entry), None)
    if reference is None or not field.allow_none:
        return {}
    return {"anyOf": [reference, {"type": "object", "nullable": True, "enum": [None]}]}
