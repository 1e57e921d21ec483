"""Tells what is wrong with a message before the SDK reads it, whose own errors repeat what was sent."""

import re
from typing import Any, NamedTuple

from mcp.types import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from mcp.types.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from app.core.errors import MalformedJson
from app.core.wire.serialization import dumps, loads

VERSIONS = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)

METHODS = ("initialize", "ping", "server/discover", "tools/call", "tools/list")
"""The requests that are answered; the SDK would answer one more with a stream that never ends."""

_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


class Fault(NamedTuple):
    """What is wrong with a message, as an error of JSON-RPC; it repeats nothing of the message but its id."""

    code: int
    sentence: str
    id: str | int | None = None
    data: dict[str, Any] | None = None
    status: int = 400

    def encode(self) -> bytes:
        """Return the answer."""
        error = {"code": self.code, "message": self.sentence, **({"data": self.data} if self.data else {})}
        return dumps({"jsonrpc": "2.0", "id": self.id, "error": error})


def find_fault(body: bytes, version: str | None) -> Fault | None:
    """Return what is wrong with a message, or None; `version` is that of the header."""
    try:
        message = loads(body)
    except MalformedJson as error:
        return Fault(PARSE_ERROR, f"Parse error: {error}")
    wrong_envelope = _find_wrong_envelope(message)
    if wrong_envelope:
        return Fault(INVALID_REQUEST, f"Invalid Request: {wrong_envelope}")
    id_ = message.get("id") if "method" in message else None
    if version is not None and version not in VERSIONS:
        sentence = f"This version of the protocol is not supported; there are {', '.join(VERSIONS)}."
        # The protocol asks for the version here, and clients read it; any other text is not repeated.
        requested = version if _VERSION.fullmatch(version) else ""
        data = {"supported": list(VERSIONS), "requested": requested}
        return Fault(UNSUPPORTED_PROTOCOL_VERSION, sentence, id_, data)
    return _find_wrong_request(message, is_modern=version in MODERN_PROTOCOL_VERSIONS) if "id" in message else None


def _find_wrong_request(message: dict[str, Any], *, is_modern: bool) -> Fault | None:
    """Return what is wrong with the method or its parameters; earlier versions answer such a request with 200."""
    method = message.get("method")
    if method is not None and method not in METHODS:
        sentence = f"There is no such method; there are {', '.join(METHODS)}."
        return Fault(METHOD_NOT_FOUND, sentence, message["id"], status=404 if is_modern else 200)
    wrong_call = _find_wrong_call(message.get("params") or {}) if method == "tools/call" else None
    if wrong_call is None:
        return None
    return Fault(INVALID_PARAMS, f"Invalid params: {wrong_call}", message["id"], status=400 if is_modern else 200)


def _find_wrong_envelope(message: Any) -> str | None:
    """Return what is wrong with the members of every message."""
    if isinstance(message, list):
        return "send one message, not a batch."
    if not isinstance(message, dict):
        return "a message is a JSON object."
    if message.get("jsonrpc") != "2.0":
        return '`jsonrpc` must be "2.0".'
    if "id" in message and not _is_id(message["id"]) and not _is_error_without_id(message):
        return "`id` must be a text or a whole number."
    return _find_wrong_members(message) if "method" in message else _find_wrong_response(message)


def _find_wrong_members(message: dict[str, Any]) -> str | None:
    """Return what is wrong with the members of a request or notification."""
    if not isinstance(message["method"], str):
        return "`method` must be a text."
    if not isinstance(message.get("params"), dict | None):
        return "`params` must be an object."
    return None


def _find_wrong_response(message: dict[str, Any]) -> str | None:
    """Return what is wrong with the members of a response."""
    if "result" not in message and "error" not in message:
        return "a message has a `method`, or else a `result` or an `error`."
    if "id" not in message:
        return "a response has the `id` of its request."
    if "result" in message:
        return None if isinstance(message["result"], dict) else "`result` must be an object."
    error = message["error"]
    if isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str):
        return None
    return "`error` must be an object with a `code` and a `message`."


def _is_id(value: Any) -> bool:
    return isinstance(value, str) or type(value) is int


def _is_error_without_id(message: dict[str, Any]) -> bool:
    """Tell whether a message is the error of a request whose id could not be read."""
    return message["id"] is None and message.keys().isdisjoint(("method", "result"))


def _find_wrong_call(params: dict[str, Any]) -> str | None:
    """Return what is wrong with the parameters of a call of a tool."""
    if not isinstance(params.get("name"), str):
        return "`name` must be the name of a tool."
    if not isinstance(params.get("arguments"), dict | None):
        return "`arguments` must be an object."
    return None
