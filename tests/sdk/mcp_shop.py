"""MCP servers with business tools, and calls of them by the official client, in every era of the protocol."""

import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
import pytest
from agent_feedback.envelope import ENVELOPE
from mcp.client.client import Client
from mcp.server.lowlevel import Server
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, ImageContent, ListToolsResult, TextContent, Tool

ERAS = ("legacy", "auto")

every_era = pytest.mark.parametrize("era", ERAS)

T = TypeVar("T")


def make_server() -> MCPServer:
    """Return a server with tools of every kind."""
    server = MCPServer("shop")

    @server.tool()
    def find_orders(customer: str) -> dict[str, Any]:
        return {"orders": [customer]}

    @server.tool(structured_output=False)
    async def greet(name: str) -> str:
        return f"Hello {name}"

    @server.tool(structured_output=False)
    def draw() -> ImageContent:
        return ImageContent(type="image", data="aGVsbG8=", mime_type="image/png")

    @server.tool()
    def refuse() -> str:
        raise ValueError("no")

    return server


def make_low_level_server(call_tool: Callable[..., Awaitable[CallToolResult]], pages: int = 1) -> Server[Any]:
    """Return a server whose tools `tool_0` … are on a page each."""

    async def list_tools(_: Any, params: Any) -> ListToolsResult:
        page = int(params.cursor or 0) if params else 0
        tool = Tool(name=f"tool_{page}", input_schema={"type": "object"})
        return ListToolsResult(tools=[tool], next_cursor=str(page + 1) if page + 1 < pages else None)

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


def run(server: Any, use: Callable[[Client], Awaitable[T]], era: str = "auto") -> T:
    """Connect a client to a server and return what it makes of it."""

    async def connect() -> T:
        async with Client(server, mode=era) as client:
            return await use(client)

    return anyio.run(connect)


def call(server: Any, name: str, era: str = "auto", /, **arguments: Any) -> CallToolResult:
    """Call a tool once."""
    return run(server, lambda client: client.call_tool(name, arguments), era)


def block_members(result: CallToolResult) -> dict[str, Any]:
    """Return the members in a result's last text block."""
    block = result.content[-1]
    assert isinstance(block, TextContent)
    members: dict[str, Any] = json.loads(block.text)
    return members


def envelope_of(result: CallToolResult) -> dict[str, Any]:
    """Return the envelope of a result, wherever it is."""
    members = result.structured_content if isinstance(result.structured_content, dict) else {}
    envelope: dict[str, Any] = (members if ENVELOPE in members else block_members(result))[ENVELOPE]
    return envelope
