"""MCP servers on the official SDK: their tools are wrapped in one line, `feedback.mcp(server)`.

Needs the extra `agent-feedback[mcp]`; nothing else of this library imports the SDK.
"""

from agent_feedback.mcp.call import current_call

__all__ = ["current_call"]
