"""The HTTP endpoint of the read server: the streamable HTTP of the Model Context Protocol."""

from typing import Any

from flask import Response, request

from app.accounts.guards import check_origin
from app.core.http.blueprint import PRIVATE, Blueprint
from app.core.http.body import AGENT_BODY_BYTES, read_body
from app.mcp.tools import Tool, call_tool
from app.tokens.guards import current_environment

blp = Blueprint("mcp", __name__, title="Model Context Protocol")


@blp.post("")
@blp.response(200)
def answer_message() -> Response:
    """Answer one message of the protocol."""
    check_origin()
    # The SDK takes a second and 50 MB, which only the processes pay that answer such a message.
    from app.mcp.exchange import run_exchange  # noqa: PLC0415  # see above

    environment_id = current_environment().id

    def call(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
        return call_tool(tool, environment_id, arguments)

    exchange = run_exchange(request.headers.items(), read_body(request, AGENT_BODY_BYTES), call)
    return Response(exchange.body, exchange.status, [*exchange.headers, ("Cache-Control", PRIVATE)])
