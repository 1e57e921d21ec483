"""The HTTP endpoint of the read server: the streamable HTTP of the Model Context Protocol."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from app.accounts.guards import check_origin
from app.core.errors import ApiError, UnsupportedMediaType
from app.core.http.blueprint import PRIVATE, Blueprint
from app.core.http.body import AGENT_BODY_BYTES, read_body
from app.mcp.tools import Tool, call_tool
from app.tokens.guards import current_environment

blp = Blueprint("mcp", __name__, title="Model Context Protocol")

JSON = "application/json"
VERSION_HEADER = "MCP-Protocol-Version"


class NotAcceptable(ApiError):
    """The request does not say that it takes JSON."""

    status = 406
    code = "not_acceptable"
    sentence = "An answer is JSON; send Accept: application/json, text/event-stream."


@blp.post("")
@blp.response(200)
def answer_message() -> Response:
    """Answer one message of the protocol."""
    check_origin()
    body = _read_message()
    # The SDK takes a second and 50 MB, which only the processes pay that answer such a message.
    from app.mcp.exchange import run_exchange  # noqa: PLC0415  # see above

    environment_id = current_environment().id

    def call(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        return call_tool(tool, environment_id, arguments)

    exchange = run_exchange(request.headers.items(), body, request.headers.get(VERSION_HEADER), call)
    return _response(exchange.body, exchange.status, exchange.headers)


def _read_message() -> bytes:
    body = read_body(request, AGENT_BODY_BYTES)
    if request.mimetype != JSON:
        raise UnsupportedMediaType
    return body


def _response(body: bytes, status: int, headers: Sequence[tuple[str, str]]) -> Response:
    """Return what the SDK answered, whose errors of this kind have no text."""
    if status == NotAcceptable.status:
        raise NotAcceptable
    response = Response(body, status, mimetype=JSON)
    response.headers.update([*headers, ("Cache-Control", PRIVATE)])
    return response
