"""How an endpoint is written here: a blueprint whose decorators check, document and answer."""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from http import HTTPStatus
from typing import Any

import marshmallow
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask, Response, current_app, request
from flask_smorest import Api as SmorestApi
from flask_smorest import Blueprint as SmorestBlueprint
from werkzeug.exceptions import HTTPException, RequestEntityTooLarge

from app.core.database import transaction
from app.core.decoder import BodyDecoder, PayloadGuard, no_payload_guard
from app.core.doors import Door, Guard
from app.core.encoder import body_encoder
from app.core.errors import Refusal, Unauthorized
from app.core.fields import Choice, Field, Flag, Instant, Integer, Number, Text
from app.core.requests import JSON_HEADERS, refuse
from app.core.schema import Many, One, Schema
from config.settings import Settings

AGENT_BODY_BYTES = 64 * 1024
BATCH_BODY_BYTES = 1024 * 1024

PRIVATE = "private, no-store"
"""Answers to a credential hold tokens, reviews and context; no cache may keep them."""


_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}\Z")


def private_json(body: bytes, status: int) -> Response:
    """Make the answer to a credential."""
    return Response(body, status, {**JSON_HEADERS, "Cache-Control": PRIVATE})


class Blueprint(SmorestBlueprint):  # type: ignore[misc]
    """A blueprint of JSON endpoints; one transaction around each."""

    def __init__(self, name: str, import_name: str, **kwargs: Any) -> None:
        super().__init__(name, import_name, **kwargs)
        self.guard: Guard | None = None
        self._prepare_doc_cbks.append(self._prepare_refusal_doc)

    def arguments(
        self,
        schema: type[Schema],
        *,
        limit: int = AGENT_BODY_BYTES,
        invalid_status: int = 422,
        is_about_account: bool = False,
    ) -> Callable[..., Any]:
        """Decode the body by a schema and pass it as the last argument; `invalid_status` answers a wrong value.

        A body about the caller's own account may name what no other body may, such as an e-mail address.
        """
        decoder = BodyDecoder(schema(), invalid_status=invalid_status)

        def decorator(view: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(view)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                request.max_content_length = limit
                payload_guard: PayloadGuard = current_app.extensions["payload_guard"]
                guard = no_payload_guard if is_about_account else payload_guard
                return view(*args, decoder.decode(request.get_data(cache=False), guard), **kwargs)

            wrapper._apidoc = deepcopy(getattr(view, "_apidoc", {}))  # type: ignore[attr-defined]
            wrapper._apidoc["arguments"] = {"parameters": [{"in": "json", "required": True, "schema": schema}]}  # type: ignore[attr-defined]
            wrapper._apidoc["body_refusals"] = {400, 413, invalid_status}  # type: ignore[attr-defined]
            return wrapper

        return decorator

    def question(self, schema: type[Schema]) -> Callable[..., Any]:
        """Read the query string by a schema and pass it as the last argument."""
        read = schema()

        def decorator(view: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(view)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                return view(*args, read.accept(_typed(read, request.args)), **kwargs)

            wrapper._apidoc = deepcopy(getattr(view, "_apidoc", {}))  # type: ignore[attr-defined]
            wrapper._apidoc["arguments"] = {"parameters": [{"in": "query", "schema": schema}]}  # type: ignore[attr-defined]
            wrapper._apidoc["body_refusals"] = {400, 422}  # type: ignore[attr-defined]
            return wrapper

        return decorator

    def response(
        self, status: int, schema: type[marshmallow.Schema] | None = None, *, refusals: Sequence[int] = ()
    ) -> Callable[..., Any]:
        """Run the view in one transaction and encode what it returns; `refusals` documents its own error statuses."""
        document = super().response(status, schema)
        encode = body_encoder(schema() if schema else None)

        def decorator(view: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(view)
            def wrapper(*args: Any, **kwargs: Any) -> Response:
                with transaction():
                    result = view(*args, **kwargs)
                    if isinstance(result, Response):
                        return result
                    body = encode(result)
                return private_json(body, status)

            wrapper._apidoc = document(view)._apidoc  # type: ignore[attr-defined]
            wrapper._apidoc["refusals"] = refusals  # type: ignore[attr-defined]
            return wrapper

        return decorator

    def answers_any_body(self, schema: type[Schema]) -> Callable[..., Any]:
        """Register what answers a refused body, where there already is an answer that no body can change.

        The function returns that answer, or None where the refusal stands.
        """
        encode = body_encoder(schema())

        def decorator(find: Callable[[], Any]) -> Callable[[], Any]:
            def answer(error: Exception) -> Response:
                status = error.status if isinstance(error, Refusal) else RequestEntityTooLarge.code
                if status != Unauthorized.status and status < 500:
                    try:
                        with transaction():
                            found = find()
                    except Exception as failure:  # nothing else turns what fails in here into an answer
                        return refuse(failure)
                    if found is not None:
                        return private_json(encode(found), 200)
                return refuse(error)

            self.register_error_handler(Refusal, answer)
            self.register_error_handler(RequestEntityTooLarge, answer)
            return find

        return decorator

    def _prepare_refusal_doc(self, doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Document what every endpoint of this kind may refuse."""
        refusals = {*doc_info.get("refusals", ()), 500, 503}
        if self.guard and self.guard.credential:
            doc["security"] = [{self.guard.name: []}]
            refusals.add(401)
        refusals |= doc_info.get("body_refusals", set())
        for status in sorted(refusals):
            doc.setdefault("responses", {}).setdefault(status, HTTPStatus(status).name)
        return doc


def _typed(schema: Schema, arguments: Mapping[str, str]) -> dict[str, Any]:
    """Return a query string with its whole numbers as numbers; of a repeated name the first value counts."""
    whole = {field.data_key for field in schema.fields.values() if isinstance(field, Integer)}
    return {
        name: int(text) if name in whole and _WHOLE_NUMBER.match(text) else text for name, text in arguments.items()
    }


class ProblemSchema(marshmallow.Schema):
    """One thing that is wrong with a body."""

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
    Many: ("array", None),
    One: ("object", None),
}


class Api(SmorestApi):  # type: ignore[misc]
    """The OpenAPI description and the doors of one app."""

    ERROR_SCHEMA = ErrorSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask, *, payload_guard: PayloadGuard) -> None:
        app.extensions["payload_guard"] = payload_guard
        plugin = MarshmallowPlugin()
        super().__init__(app, spec_kwargs={"marshmallow_plugin": plugin})
        assert plugin.converter is not None  # made by the line above
        for kind, words in _JSON_TYPES.items():
            self.register_field(kind, *words)
        plugin.converter.add_attribute_function(_describe_nesting)  # type: ignore[no-untyped-call]

    def handle_http_exception(self, error: HTTPException) -> Response:
        """Give the framework's own errors the shape of ours."""
        return refuse(error)

    def open_door(self, door: Door) -> None:
        """Register a blueprint under its prefix and guard."""
        assert isinstance(door.blueprint, Blueprint)
        door.blueprint.guard = door.guard
        if door.guard.credential:
            settings: Settings = self._app.extensions["settings"]
            self.spec.components.security_schemes.setdefault(door.guard.name, door.guard.security_scheme(settings))
        self.register_blueprint(door.blueprint, url_prefix=door.prefix)
        self._app.extensions.setdefault("doors", {})[door.blueprint.name] = door

    def open_page(self, door: Door) -> None:
        """Register a blueprint of pages, which the API description leaves out."""
        self._app.register_blueprint(door.blueprint, url_prefix=door.prefix)
        self._app.extensions.setdefault("doors", {})[door.blueprint.name] = door


def _describe_nesting(converter: Any, field: Any, **_: Any) -> dict[str, Any]:
    """Describe our own list and object fields to OpenAPI."""
    if isinstance(field, One):
        return dict(converter.resolve_nested_schema(field.inner))
    if isinstance(field, Many):
        inner = field.inner
        items = converter.resolve_nested_schema(inner) if isinstance(inner, Schema) else converter.field2property(inner)
        return {"type": "array", "items": items}
    return {}
