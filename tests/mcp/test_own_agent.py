"""A company's own agent reads by the official client, over HTTP, in old and new revisions of the protocol."""

import json
from typing import Any

import anyio
import pytest
from mcp.types import CallToolResult

from tests.mcp.conftest import OwnAgent
from tests.reading.fixtures import Reader

CONNECT_MODES = ("legacy", "auto")
TOOL_NAMES = {"worst_operations", "list_operations", "list_reviews", "list_reports", "get_report"}


def call(own_agent: OwnAgent, name: str, **arguments: Any) -> CallToolResult:
    async def run() -> CallToolResult:
        async with own_agent.connect() as client:
            return await client.call_tool(name, arguments)

    return anyio.run(run)


@pytest.mark.parametrize("mode", CONNECT_MODES)
def test_every_tool_is_described_and_only_reads(own_agent: OwnAgent, mode: str) -> None:
    async def run() -> None:
        async with own_agent.connect(mode=mode) as client:
            assert "worst_operations" in (client.instructions or "")
            tools = (await client.list_tools()).tools
        assert {tool.name for tool in tools} == TOOL_NAMES
        for tool in tools:
            assert tool.annotations is not None
            assert tool.annotations.read_only_hint
            assert tool.description
            assert tool.input_schema["additionalProperties"] is False

    anyio.run(run)


@pytest.mark.parametrize("mode", CONNECT_MODES)
def test_reviews_are_listed_by_filter_and_page(own_agent: OwnAgent, reader: Reader, mode: str) -> None:
    failed_ids = {str(reader.store_review(outcome="failure")) for _ in range(3)}
    reader.store_review(outcome="success")

    async def run() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        arguments: dict[str, Any] = {"outcome": "failure", "limit": 2}
        async with own_agent.connect(mode=mode) as client:
            while True:
                result = await client.call_tool("list_reviews", arguments)
                page = result.structured_content
                items += page["items"]
                if page["nextCursor"] is None:
                    return items
                arguments["cursor"] = page["nextCursor"]

    assert {item["interactionId"] for item in anyio.run(run)} == failed_ids


def test_the_text_is_the_structured_content(own_agent: OwnAgent, reader: Reader) -> None:
    reader.store_review()
    result = call(own_agent, "list_reviews")
    (content,) = result.content
    assert json.loads(content.text) == result.structured_content


def test_a_wrong_argument_is_told_where_and_what_fits(own_agent: OwnAgent) -> None:
    result = call(own_agent, "list_reviews", outcome="perfect", limit=0)
    assert result.is_error
    assert {(error["pointer"], error["code"]) for error in result.structured_content["errors"]} == {
        ("/outcome", "enum"),
        ("/limit", "range"),
    }


def test_a_report_that_is_not_there_is_said_so(own_agent: OwnAgent) -> None:
    result = call(own_agent, "get_report", reportId="5b0e7f66-21a4-4c3e-9d5c-0f6a3f3f7b10")
    assert result.is_error
    assert result.structured_content["code"] == "not_found"
