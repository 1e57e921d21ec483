"""A blueprint of JSON endpoints: flask-smorest's, with our decoder, encoder and transaction."""

import functools
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from http import HTTPStatus
from typing import Any

import marshmallow
from flask import Response, current_app, request
from flask_smorest import Blueprint as SmorestBlueprint

from app.core.database import transaction
from app.core.errors import CLOSE, ApiError, Problem, TooManyRequests, Unauthorized, Unprocessable
from app.core.http.body import AGENT_BODY_BYTES, read_body
from app.core.http.errors import JSON_HEADERS, error_response
from app.core.http.mounts import Guard
from app.core.wire.decoder import BodyDecoder, DocumentCheck
from app.core.wire.encoder import body_encoder
from app.core.wire.fields import Integer
from app.core.wire.schemas import Schema

PRIVATE = "private, no-store"
"""Answers to a credential hold tokens, reviews and context; no cache may keep them."""

BYTES_PER_MEMBER = 64
"""Of the largest body that an endpoint takes: 1,024 members for an agent's, 16,384 for a batch, more than any needs."""

logger = logging.getLogger("agent_feedback")

View = Callable[..., Any]
Decorator = Callable[[View], View]

_WITHOUT_FALLBACK = (Unauthorized.status, TooManyRequests.status)
"""Errors of requests that may not cost a look into the database."""

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,9}\Z")


class Blueprint(SmorestBlueprint):  # type: ignore[misc]  # flask-smorest has no types
    """A blueprint whose views each run in one transaction."""

    def __init__(self, name: str, import_name: str, *, title: str | None = None, **kwargs: Any) -> None:
        super().__init__(name, import_name, **kwargs)
        self.title = title or name.replace("_", " ").capitalize()
        """The tag of its operations in the API description."""
        self.guard: Guard | None = None
        self.is_limited = True
        self.decoders: list[BodyDecoder] = []
        self._prepare_doc_cbks.append(self._prepare_operation_doc)

    def route(self, rule: str, *, operation_id: str | None = None, **options: Any) -> Decorator:
        """Register a view under a rule, as Flask does; `operation_id` names it in the API description for ever."""
        register = super().route(rule, tags=[self.title], **options)

        def decorator(view: View) -> View:
            view._apidoc = {**getattr(view, "_apidoc", {}), "operation_id": operation_id}  # type: ignore[attr-defined]  # flask-smorest's attribute
            endpoint: View = register(view)
            return endpoint

        return decorator

    def arguments(self, schema: type[Schema], *, location: str = "json", **options: Any) -> Decorator:
        """Load a part of the request by a schema and pass it to the view, as flask-smorest does.

        `location` is json, query or path. `as_kwargs` passes the members by their names. Of a JSON body: `max_bytes`
        limits it, `invalid_status` is that of a wrong value, `has_unique_keys` tells whether a repeated key is an
        error, and `may_have_account_data` whether it may have members such as an e-mail address.
        """
        as_kwargs = options.pop("as_kwargs", False)
        load, doc = _LOADERS[location](self, schema, **options)

        def decorator(view: View) -> View:
            @functools.wraps(view)
            def wrapper(*args: Any, **kwargs: Any) -> Any:
                value = load()
                return view(*args, **{**kwargs, **value}) if as_kwargs else view(*args, value, **kwargs)

            wrapper._apidoc = _merged_apidoc(view, doc)  # type: ignore[attr-defined]  # flask-smorest's attribute
            return wrapper

        return decorator

    def response(
        self,
        status: int,
        schema: type[marshmallow.Schema] | dict[str, Any] | None = None,
        *,
        errors: Sequence[int] = (),
        cache_s: int | None = None,
        **options: Any,
    ) -> Decorator:
        """Run the view in one transaction and encode its result; `errors` documents its own error statuses.

        `cache_s` lets every cache keep the answer for as many seconds, with an ETag. Where the view returns a response,
        the schema may be a plain OpenAPI one.
        """
        example = getattr(schema, "example", None)
        document = super().response(status, schema, example=example, **options)
        encode = body_encoder(schema() if isinstance(schema, type) else None)

        def decorator(view: View) -> View:
            @functools.wraps(view)
            def wrapper(*args: Any, **kwargs: Any) -> Response:
                with transaction():
                    result = view(*args, **kwargs)
                    if isinstance(result, Response):
                        return result
                    body = encode(result)
                return private_json(body, status) if cache_s is None else _cacheable_json(body, status, cache_s)

            wrapper._apidoc = document(view)._apidoc  # type: ignore[attr-defined]  # flask-smorest's attribute
            wrapper._apidoc["errors"] = {*errors, *wrapper._apidoc.get("errors", ())}  # type: ignore[attr-defined]  # as above
            return wrapper

        return decorator

    def fallback(self, schema: type[Schema]) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
        """Register the function that answers an invalid request with what an earlier one has stored.

        It returns None where nothing is stored; the error is the answer then.
        """
        encode = body_encoder(schema())

        def decorator(find: Callable[[], Any]) -> Callable[[], Any]:
            def respond(error: ApiError) -> Response:
                if error.status not in _WITHOUT_FALLBACK and error.status < 500:
                    try:
                        with transaction():
                            answer = find()
                    except Exception as failure:  # an error handler's own exception would find no handler
                        return error_response(failure)
                    if answer is not None:
                        response = private_json(encode(answer), 200)
                        response.headers.update(CLOSE if error.headers is CLOSE else {})
                        return response
                return error_response(error)

            self.register_error_handler(ApiError, respond)
            return find

        return decorator

    def on_error(self, observe: Callable[[ApiError], Mapping[str, str]]) -> Callable[[ApiError], Mapping[str, str]]:
        """Call a function with every API error of this blueprint, and add the headers that it returns to the response.

        Its own failure is logged, and changes nothing else.
        """

        def respond(error: ApiError) -> Response:
            response = error_response(error)
            try:
                response.headers.update(observe(error))
            except Exception as failure:  # whatever it is, the caller gets its answer
                logger.warning("an error was not counted", extra={"error": type(failure).__name__})
            return response

        self.register_error_handler(ApiError, respond)
        return observe

    def _prepare_operation_doc(self, doc: dict[str, Any], doc_info: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Document an operation's id, its errors and the credential that it takes."""
        if operation_id := doc_info.get("operation_id"):
            doc["operationId"] = operation_id
        # Whatever is no valid HTTP request is answered by the server in front of every endpoint.
        errors = {*doc_info.get("errors", ()), 400, 500, 503}
        if self.guard and self.guard.credential:
            doc["security"] = [{self.guard.name: []}]
            errors.add(401)
        else:
            doc["security"] = []
        if self.is_limited:
            errors.add(429)
        for status in sorted(errors):
            doc.setdefault("responses", {}).setdefault(status, HTTPStatus(status).name)
        return doc


def private_json(body: bytes, status: int) -> Response:
    """Return a JSON response that no cache keeps."""
    return Response(body, status, {**JSON_HEADERS, "Cache-Control": PRIVATE})


def _cacheable_json(body: bytes, status: int, cache_s: int) -> Response:
    return cacheable(Response(body, status, JSON_HEADERS), cache_s)


def cacheable(response: Response, cache_s: int) -> Response:
    """Let every cache keep a response, and answer 304 to a request that has it."""
    response.headers["Cache-Control"] = f"public, max-age={cache_s}"
    response.add_etag()
    return response.make_conditional(request)  # type: ignore[return-value]  # Flask's response class is Werkzeug's


def _body_loader(
    blueprint: Blueprint,
    schema: type[Schema],
    *,
    max_bytes: int = AGENT_BODY_BYTES,
    invalid_status: int = 422,
    has_unique_keys: bool = True,
    may_have_account_data: bool = False,
) -> tuple[Callable[[], Any], dict[str, Any]]:
    decoder = BodyDecoder(
        schema(),
        invalid_status=invalid_status,
        has_unique_keys=has_unique_keys,
        max_members=max_bytes // BYTES_PER_MEMBER,
    )
    blueprint.decoders.append(decoder)

    def load() -> Any:
        check: DocumentCheck = _accept_any if may_have_account_data else current_app.extensions["document_check"]
        return decoder.decode(read_body(request, max_bytes), check)

    # flask-smorest documents `json` as the request body.
    example = {} if schema.example is None else {"example": schema.example}
    doc = {"parameters": [{"in": "json", "required": True, "schema": schema, **example}]}
    return load, {"arguments": doc, "errors": {400, 413, 415, invalid_status}}


def _query_loader(_: Blueprint, schema: type[Schema]) -> tuple[Callable[[], Any], dict[str, Any]]:
    loader = schema()
    integers = {field.data_key for field in loader.fields.values() if isinstance(field, Integer)}

    def load() -> Any:
        values = {
            name: int(text) if name in integers and _WHOLE_NUMBER.match(text) else text
            for name, text in request.args.items()
        }
        repeated_names = [name for name, texts in request.args.lists() if len(texts) > 1]
        return _load_values(loader, values, "query", repeated_names)

    return load, {"arguments": {"parameters": [{"in": "query", "schema": schema}]}, "errors": {422}}


def _path_loader(_: Blueprint, schema: type[Schema]) -> tuple[Callable[[], Any], dict[str, Any]]:
    loader = schema()
    return lambda: _load_values(loader, dict(request.view_args or {}), "path"), {"errors": {422}}


_LOADERS: dict[str, Callable[..., tuple[Callable[[], Any], dict[str, Any]]]] = {
    "json": _body_loader,
    "query": _query_loader,
    "path": _path_loader,
}


def _load_values(loader: Schema, values: dict[str, Any], part: str, repeated_names: Sequence[str] = ()) -> Any:
    """Load named values, or raise `Unprocessable` that speaks of their place."""
    sentence = f"The {part} has a value that is not valid; errors says where and what is."
    if repeated_names:
        names = [name for name in repeated_names if name in {field.data_key for field in loader.fields.values()}]
        problems = [Problem(f"/{name}", "repeated", "Send this parameter once.") for name in names]
        raise Unprocessable(sentence, problems=problems or [Problem("", "repeated", "Send each parameter once.")])
    try:
        return loader.accept(values)
    except ApiError as error:
        raise Unprocessable(sentence, problems=error.problems) from None


def _accept_any(_: Any) -> None:
    """Accept every document."""


def _merged_apidoc(view: View, doc: dict[str, Any]) -> dict[str, Any]:
    """Return what the decorators below have documented of a view, and this one's part."""
    apidoc = deepcopy(getattr(view, "_apidoc", {}))
    parameters = [
        *apidoc.get("arguments", {}).get("parameters", ()),
        *doc.get("arguments", {}).get("parameters", ()),
    ]
    errors = {*apidoc.get("errors", ()), *doc["errors"]}
    return {**apidoc, **({"arguments": {"parameters": parameters}} if parameters else {}), "errors": errors}
