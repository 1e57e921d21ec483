"""An MCP server for the conformance suite: business tools of every kind on the official SDK, over stdio."""

from typing import Any, TypedDict

from agent_feedback import CustomerReferences
from agent_feedback.mcp import current_call
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult, TextContent
from product import make_feedback


def read_header(_context: Any, _name: str) -> str | None:
    """Return nothing: there are no headers over stdio."""
    return None


class Answer(TypedDict):
    """What the tool with an output schema returns."""

    text: str


feedback = make_feedback(read_header)
server = MCPServer("conformance")


@server.tool(structured_output=False)
def plain(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
def typed(text: str) -> Answer:
    """Return the text as the output schema has it."""
    return Answer(text=text)


@server.tool(structured_output=False)
def refuse(text: str) -> CallToolResult:
    """Return an error result."""
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


@server.tool(structured_output=False)
def fail(text: str) -> str:
    """Fail with an exception."""
    raise RuntimeError(text)


@server.tool(structured_output=False)
def ask(text: str) -> str:
    """Ask for context of the user that the text names."""
    customer = CustomerReferences(user_ref=text)
    feedback.customer_context.ask(
        current_call(), purpose="product_personalization", customer=customer, field_keys=["shopping.priority"]
    )
    return text


if __name__ == "__main__":
    try:
        feedback.mcp(server).run("stdio")
    finally:
        feedback.shutdown()
