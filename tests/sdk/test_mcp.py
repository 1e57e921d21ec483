"""MCP servers: their business tools are wrapped once, and each completed call is an interaction."""

import logging
from typing import Any

import anyio
import pytest
from agent_feedback import AgentFeedback, InvalidOption
from agent_feedback.envelope import ENVELOPE
from agent_feedback.mcp.middleware import FeedbackMiddleware
from mcp.client.client import Client
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, ImageContent, TextContent

from tests.sdk.endpoint import KEY, Endpoint
from tests.sdk.mcp_shop import block_members, call, envelope_of, every_era, make_low_level_server, make_server, run
from tests.sdk.shop import CompanyClient

TOOLS = [
    "report_product_outcome",
    "report_product_feedback",
    "record_product_feedback_consent",
    "share_customer_context",
    "record_customer_context_consent",
]


@pytest.fixture(autouse=True)
def quiet_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the SDK's server from printing the exceptions of tools."""
    monkeypatch.setattr(logging.getLogger("mcp"), "disabled", True)


@pytest.fixture
def feedback(endpoint: Endpoint) -> CompanyClient:
    return CompanyClient(endpoint.url, company_key=None)


def summary(feedback: CompanyClient) -> list[tuple[str, int]]:
    return [(event["operation"], event["statusCode"]) for event in feedback.events]


@every_era
def test_the_envelope_is_in_the_structured_content_beside_the_text(feedback: CompanyClient, era: str) -> None:
    result = call(feedback.mcp(make_server()), "greet", era, name="Ada")
    assert result.content == [TextContent(type="text", text="Hello Ada")]
    assert result.structured_content["result"] == "Hello Ada"
    envelope = result.structured_content[ENVELOPE]
    assert (envelope["state"], envelope["reliability"]) == ("feedback_ready", "protocol_tool")


@every_era
def test_a_tool_with_an_output_schema_keeps_its_structured_content(feedback: CompanyClient, era: str) -> None:
    result = call(feedback.mcp(make_server()), "find_orders", era, customer="c_1")
    assert result.structured_content == {"orders": ["c_1"]}
    assert len(result.content) == 2
    assert block_members(result)[ENVELOPE]["reliability"] == "protocol_tool"


def test_a_picture_is_not_hidden_behind_structured_content(feedback: CompanyClient) -> None:
    result = call(feedback.mcp(make_server()), "draw")
    assert result.structured_content is None
    assert isinstance(result.content[0], ImageContent)
    assert envelope_of(result)["v"] == 1


def test_a_client_of_an_old_version_gets_a_text_block(feedback: CompanyClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_feedback.mcp.results.FIRST_VERSION_WITH_STRUCTURED_CONTENT", "9999-01-01")
    result = call(feedback.mcp(make_server()), "greet", name="Ada")
    assert result.structured_content is None
    assert ENVELOPE in block_members(result)


@every_era
def test_each_completed_call_is_a_confirmed_interaction(feedback: CompanyClient, era: str) -> None:
    server = feedback.mcp(make_server())
    token = envelope_of(call(server, "greet", era, name="Ada"))["submitOutcome"]["authorization"]
    assert token.startswith("Bearer afr2_")
    (event,) = feedback.events
    assert event["durationMs"] > 0
    assert (event["surface"], event["classification"], event["operation"]) == ("mcp", "confirmed", "greet")
    assert event["statusCode"] == 200


@every_era
def test_an_error_result_counts_as_500_and_carries_the_envelope(feedback: CompanyClient, era: str) -> None:
    result = call(feedback.mcp(make_server()), "refuse", era)
    assert result.is_error
    assert envelope_of(result)["v"] == 1
    assert summary(feedback) == [("refuse", 500)]


def test_an_exception_counts_as_500_and_is_raised_unchanged(feedback: CompanyClient) -> None:
    async def call_tool(*_: Any) -> CallToolResult:
        raise MCPError(-32042, "pay first", {"price": 3})

    async def use(client: Client) -> MCPError:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("tool_0", {})
        return raised.value

    error = run(feedback.mcp(make_low_level_server(call_tool)), use).error
    assert (error.code, error.message, error.data) == (-32042, "pay first", {"price": 3})
    assert summary(feedback) == [("tool_0", 500)]


def test_a_cancelled_call_is_no_interaction(feedback: CompanyClient) -> None:
    has_started, was_cancelled = anyio.Event(), anyio.Event()

    async def call_tool(*_: Any) -> CallToolResult:
        has_started.set()
        try:
            await anyio.sleep(30)
        except BaseException:
            was_cancelled.set()
            raise
        raise AssertionError

    async def use(client: Client) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "tool_0", {})
            await has_started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(5):
            await was_cancelled.wait()
        await client.list_tools()

    run(feedback.mcp(make_low_level_server(call_tool)), use, "legacy")
    assert feedback.events == []


def test_an_unknown_tool_is_no_interaction(feedback: CompanyClient) -> None:
    result = call(feedback.mcp(make_server()), "someone@example.com")
    assert (result.is_error, len(result.content), result.structured_content) == (True, 1, None)
    assert feedback.events == []


def test_a_tool_is_wrapped_whether_registered_before_or_after_and_only_once(feedback: CompanyClient) -> None:
    server = MCPServer("shop")
    assert feedback.mcp(server) is server
    feedback.mcp(server)

    @server.tool()
    def late() -> str:
        return "late"

    result = call(server, "late")
    assert (len(result.content), list(block_members(result))) == (2, [ENVELOPE])
    assert len(feedback.events) == 1


def test_structured_content_of_a_tool_keeps_its_members_and_an_envelope_of_its_own(feedback: CompanyClient) -> None:
    contents: list[dict[str, Any]] = [{"price": 12345678901234567890}, {ENVELOPE: "own"}]

    async def call_tool(*_: Any) -> CallToolResult:
        return CallToolResult(content=[], structured_content=contents.pop(0))

    server = feedback.mcp(make_low_level_server(call_tool))
    assert call(server, "tool_0").structured_content["price"] == 12345678901234567890
    assert call(server, "tool_0").structured_content == {ENVELOPE: "own"}
    assert len(feedback.events) == 1


@every_era
def test_the_five_tools_are_listed_once_behind_the_last_page(feedback: CompanyClient, era: str) -> None:
    async def call_tool(*_: Any) -> CallToolResult:
        return CallToolResult(content=[])

    async def use(client: Client) -> list[list[str]]:
        pages, cursor = [], None
        while not pages or cursor:
            page = await client.list_tools(cursor=cursor)
            pages.append([tool.name for tool in page.tools])
            cursor = page.next_cursor
        return pages

    server = feedback.mcp(make_low_level_server(call_tool, pages=3))
    assert run(server, use, era) == [["tool_0"], ["tool_1"], ["tool_2", *TOOLS]]


def test_a_tool_on_a_later_page_is_found(feedback: CompanyClient) -> None:
    async def call_tool(*_: Any) -> CallToolResult:
        return CallToolResult(content=[])

    server = feedback.mcp(make_low_level_server(call_tool, pages=3))
    assert ENVELOPE in call(server, "tool_2").structured_content


def test_what_is_remembered_of_tools_is_bounded(feedback: CompanyClient, monkeypatch: pytest.MonkeyPatch) -> None:
    async def call_tool(*_: Any) -> CallToolResult:
        return CallToolResult(content=[])

    async def use(client: Client) -> None:
        for cursor in (None, "1", "2", "3", "4"):
            await client.list_tools(cursor=cursor)
        assert ENVELOPE in (await client.call_tool("tool_0", {})).structured_content

    monkeypatch.setattr("agent_feedback.mcp.middleware.MAX_TOOLS", 2)
    server = feedback.mcp(make_low_level_server(call_tool, pages=5))
    run(server, use)
    (middleware,) = [entry for entry in server.middleware if isinstance(entry, FeedbackMiddleware)]
    assert len(middleware._has_output_schema) <= 3


@pytest.mark.parametrize("settings", [{"mode": "off"}, {}])
def test_without_feedback_a_server_is_left_alone(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]
) -> None:
    if not settings:
        monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    server = AgentFeedback(KEY, endpoint=endpoint.url, **settings).mcp(make_server())
    assert call(server, "greet", name="Ada").structured_content is None
    names = run(server, lambda client: client.list_tools()).tools
    assert not {tool.name for tool in names} & set(TOOLS)


def test_callbacks_take_the_context_of_the_mcp_request(endpoint: Endpoint) -> None:
    feedback = CompanyClient(
        endpoint.url,
        company_key=None,
        customer_ref=lambda context: context.params["arguments"]["name"],
        session_ref=lambda context: f"visit-{context.method}".replace("/", "-"),
        runtime_hint="user-agent",
    )
    call(feedback.mcp(make_server()), "greet", name="Ada")
    (event,) = feedback.events
    assert (event["customerRef"], event["sessionRef"]) == ("Ada", "visit-tools-call")
    assert (event["sessionSource"], event["runtimeHintSource"]) == ("customer", "mcp")
    assert event["runtimeHint"].startswith("mcp/")


def test_a_call_that_the_company_does_not_want_is_left_alone(endpoint: Endpoint) -> None:
    def is_wanted(context: Any) -> bool:
        return bool(context.params["arguments"]["name"] == "Ada")

    feedback = CompanyClient(endpoint.url, company_key=None, should_instrument=is_wanted)
    server = feedback.mcp(make_server())
    assert ENVELOPE in call(server, "greet", name="Ada").structured_content
    assert call(server, "greet", name="Bob").structured_content is None
    assert len(feedback.events) == 1


@pytest.mark.parametrize("name", ["customer_ref", "session_ref", "should_instrument"])
def test_a_callback_that_fails_costs_the_envelope_only(endpoint: Endpoint, name: str) -> None:
    feedback = CompanyClient(endpoint.url, company_key=None, **{name: lambda context: 1 // 0})
    result = call(feedback.mcp(make_server()), "greet", name="Ada")
    assert (result.content[0].text, result.structured_content) == ("Hello Ada", None)


def test_a_customer_who_has_to_be_asked_gets_the_question(endpoint: Endpoint) -> None:
    feedback = CompanyClient(endpoint.url, company_key=None, mode="ask_always")
    envelope = envelope_of(call(feedback.mcp(make_server()), "greet", name="Ada"))
    assert envelope["requiredAction"]["type"] == "ask_user"


def test_something_else_than_a_server_is_refused(feedback: CompanyClient) -> None:
    with pytest.raises(InvalidOption, match=r"MCPServer"):
        feedback.mcp(object())
