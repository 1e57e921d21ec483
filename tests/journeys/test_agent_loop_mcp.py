"""An agent uses the tools of an MCP server from PyPI, and says truthfully how it went, through a server of its own."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from agent_feedback import AgentFeedback
from agent_feedback.cli.mcp_server import make_server
from mcp.client import Client
from mcp.types import CallToolResult
from mcp_server_time.server import create_server

from tests.journeys.reviewing import FEEDBACK_MODES, Products, companies_of_all_modes
from tests.journeys.stack import Stack, wait_until

NOON_IN_TOKYO = {"source_timezone": "Asia/Tokyo", "time": "12:00", "target_timezone": "UTC"}
NOON_ON_MARS = {**NOON_IN_TOKYO, "source_timezone": "Mars/Olympus"}


@pytest.fixture(scope="module")
def products(stack: Stack) -> Iterator[Products]:
    with companies_of_all_modes(stack) as companies:
        yield Products(stack, companies)


@pytest.mark.parametrize("mode", FEEDBACK_MODES)
def test_an_agent_tells_truthfully_how_an_mcp_server_did(products: Products, mode: str) -> None:
    customer = f"customer_{uuid.uuid4().hex}"
    settings: dict[str, Any] = {"endpoint": products.stack.url, "mode": mode, "customer_ref": lambda _: customer}
    feedback = AgentFeedback(products.companies[mode].product_key, **settings)
    sent = anyio.run(_use, feedback.mcp(create_server("UTC")), products.stack.url)
    assert feedback.shutdown() == 0
    assert [outcome for outcome, *_ in sent] == ["success", "failure"]
    assert products.stored(mode)[-2:] == sent
    statuses = "SELECT status_code, surface, operation FROM interactions WHERE environment_id = %s ORDER BY occurred_at"
    environment_id = str(products.companies[mode].environment_id)
    expected = [(200, "mcp", "convert_time"), (500, "mcp", "convert_time")]
    wait_until(lambda: products.stack.query(statuses, environment_id) == expected, 20)


def test_an_mcp_server_in_the_mode_off_is_as_it_was(products: Products) -> None:
    feedback = AgentFeedback(products.companies["off"].product_key, endpoint=products.stack.url, mode="off")

    async def use() -> list[str]:
        async with Client(feedback.mcp(create_server("UTC"))) as product:
            assert "_agentFeedback" not in str(await product.call_tool("convert_time", NOON_IN_TOKYO))
            return [tool.name for tool in (await product.list_tools()).tools]

    assert anyio.run(use) == ["get_current_time", "convert_time"]


async def _use(server: Any, service_url: str) -> list[tuple[str, str, str]]:
    sent = []
    async with Client(server) as product, Client(make_server([service_url])) as own_server:
        for arguments in (NOON_IN_TOKYO, NOON_ON_MARS):
            result = await product.call_tool("convert_time", arguments)
            outcome, note = _judge(result)
            response = json.dumps(_members(result))
            seen = await _call(own_server, "inspect_product_feedback", response=response)
            if seen["state"] == "consent_required":
                await _call(own_server, "decide_product_feedback", envelopeId=seen["envelopeId"], decision="approved")
            review = {"envelopeId": seen["envelopeId"], "outcome": outcome, "note": note}
            await _call(own_server, "submit_product_outcome", **review)
            report = {"summary": note, "findings": [{"kind": "other", "topic": "time_zones", "detail": note}]}
            await _call(own_server, "submit_product_report", envelopeId=seen["envelopeId"], report=report)
            sent.append((outcome, note, note))
    return sent


def _judge(result: CallToolResult) -> tuple[str, str]:
    if not result.is_error and "03:00" in json.dumps(result.structured_content):
        return "success", "Noon in Tokyo was given as three in the morning, UTC."
    return "failure", "The time of the place that was asked for was not given."


def _members(result: CallToolResult) -> dict[str, Any]:
    """Return the members that the product has added to a result, wherever they are."""
    if "_agentFeedback" in (result.structured_content or {}):
        return dict(result.structured_content)
    members: dict[str, Any] = json.loads(result.content[-1].text)
    return members


async def _call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    return content
