"""What MCP servers do is what the vectors say, by the adapter for the official SDK."""

import logging
from typing import Any

import pytest
from agent_feedback import AgentFeedback
from agent_feedback.envelope import ENVELOPE
from mcp.client.client import Client
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ListToolsResult, Tool

from tests.sdk.endpoint import KEY
from tests.sdk.mcp_shop import block_members, run
from tests.sdk.vectors.cases import Case, read_cases


class Shop(AgentFeedback):
    """A server with one tool, wrapped; telemetry is kept."""

    def __init__(self, result: str = "ok", output_schema: dict[str, Any] | None = None, **settings: Any) -> None:
        super().__init__(KEY, endpoint="http://127.0.0.1:9", **settings)
        self.events: list[dict[str, Any]] = []
        self.telemetry.put = self.events.append
        self._result, self._output_schema = result, output_schema
        self.server = self.mcp(Server("shop", on_list_tools=self.list_tools, on_call_tool=self.call_tool))

    async def list_tools(self, *_: Any) -> ListToolsResult:
        tool = Tool(name="buy", input_schema={"type": "object"}, output_schema=self._output_schema)
        return ListToolsResult(tools=[tool])

    async def call_tool(self, *_: Any) -> CallToolResult:
        if self._result == "exception":
            raise MCPError(-32000, "no")
        return CallToolResult(content=[], structured_content={"sum": 3}, is_error=self._result == "error")


@pytest.fixture(autouse=True)
def quiet_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("mcp"), "disabled", True)


@read_cases("mcp", "mode")
def test_the_tools_of_a_mode_are_listed(case: Case) -> None:
    tools = run(Shop(mode=case["input"]["mode"]).server, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == ["buy", *case["expected"]]


@read_cases("mcp", "result")
def test_the_event_of_a_call_has_its_members(case: Case) -> None:
    shop = Shop(case["input"]["result"])

    async def use(client: Client) -> None:
        try:
            await client.call_tool("buy", {})
        except MCPError:
            assert case["input"]["result"] == "exception"

    run(shop.server, use)
    (event,) = shop.events
    assert {name: event[name] for name in case["expected"]} == case["expected"]


@read_cases("mcp", "hasOutputSchema")
def test_the_envelope_is_in_its_place(case: Case) -> None:
    shop = Shop(output_schema={"type": "object"} if case["input"]["hasOutputSchema"] else None)
    result = run(shop.server, lambda client: client.call_tool("buy", {}))
    is_structured = ENVELOPE in result.structured_content
    envelope = result.structured_content[ENVELOPE] if is_structured else block_members(result)[ENVELOPE]
    place = "structuredContent" if is_structured else "text"
    assert {"place": place, "reliability": envelope["reliability"]} == case["expected"]
    assert result.structured_content["sum"] == 3
