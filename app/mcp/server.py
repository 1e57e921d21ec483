"""The SDK's server, with the tools of this service."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from app.core.errors import ApiError
from app.core.wire.json_schema import object_schema
from app.core.wire.serialization import dumps
from app.mcp.tools import INSTRUCTIONS, TOOLS, Tool
from app.version import VERSION

Context = ServerRequestContext[Any]
Call = Callable[[Tool, dict[str, Any]], dict[str, Any]]
CallTool = Callable[[Context, types.CallToolRequestParams], Awaitable[types.CallToolResult]]

# The SDK logs every exchange and the arguments that it refuses; the service has its own line for each request.
logging.getLogger("mcp").setLevel(logging.CRITICAL)


def make_server(call: Call, failures: list[Exception]) -> Server[Any]:
    """Return a server whose tools are run by `call`.

    An error of the caller becomes the tool's result; any other exception is appended to `failures`.
    """
    return Server(
        "agent-feedback",
        version=VERSION,
        title="Agent Feedback",
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=_tool_caller(call, failures),
    )


async def _list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    return types.ListToolsResult(tools=[_description(tool) for tool in TOOLS.values()])


def _tool_caller(call: Call, failures: list[Exception]) -> CallTool:
    async def call_tool(_: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"There is no such tool; there are {', '.join(TOOLS)}.")
        try:
            return _result(call(tool, params.arguments or {}))
        except ApiError as error:
            if error.status < 500:
                return _error_result(error)
            failures.append(error)
        except Exception as error:  # the request answers it as every endpoint does
            failures.append(error)
        raise MCPError(types.INTERNAL_ERROR, "The tool failed.")

    return call_tool


def _description(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=object_schema(tool.arguments()),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _result(answer: dict[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    text = types.TextContent(type="text", text=dumps(answer).decode())
    return types.CallToolResult(content=[text], structured_content=answer, is_error=is_error)


def _error_result(error: ApiError) -> types.CallToolResult:
    problems = [problem.as_dict() for problem in error.problems]
    return _result({"error": str(error), "code": error.slug, "errors": problems}, is_error=True)
