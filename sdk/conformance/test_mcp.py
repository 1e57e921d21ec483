"""MCP servers: the five tools, the envelope in results, and each completed call as a confirmed interaction."""

import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, NamedTuple

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from conformance import envelopes
from conformance.answers import HANDLE
from conformance.languages import Program
from conformance.processes import environment
from conformance.protocol import COMPANY_KEY, CONTRACT, ENVELOPE, KEY, PATHS, mint, validate
from conformance.recorder import CUT, Recorder, Reply, recording

MCP = CONTRACT["mcp"]
OUTCOME_TOOL, REPORT_TOOL, CONSENT_TOOL, ANSWER_TOOL, CONTEXT_CONSENT_TOOL = MCP["tools"]
BUSINESS_TOOLS = {"plain", "typed", "refuse", "fail", "ask"}
TIMEOUT_S = 40
NOTE = "All of it was as promised."
CONTEXT = CONTRACT["members"]["service"]

BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    OUTCOME_TOOL: ("outcomes", {"outcome": "success", "note": NOTE}),
    REPORT_TOOL: ("reports", {"summary": NOTE, "impact": "helped"}),
    CONSENT_TOOL: ("decisions", {"decision": "approved"}),
    ANSWER_TOOL: ("answers", {"status": "no_relevant_context", "items": []}),
    CONTEXT_CONSENT_TOOL: ("contextConsent", {"decision": "declined"}),
}


class Use(NamedTuple):
    """What came of one session with a server."""

    tools: set[str]
    results: list[CallToolResult]
    recorder: Recorder

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for request in self.recorder.of(PATHS["telemetry"]) for event in request.events]


Session = Callable[..., Use]


@pytest.fixture
def session(mcp_program: Program) -> Iterator[Session]:
    """Run a server for one session in which these tools are called; its end flushes the telemetry."""
    with recording() as recorder:

        def use(*calls: tuple[str, dict[str, Any]], **options: Any) -> Use:
            given = {"apiKey": KEY, "endpoint": recorder.url, "contextTimeout": 3000, **options}
            command, *arguments = mcp_program.command
            parameters = StdioServerParameters(
                command=command,
                args=arguments,
                env=environment(CONFORMANCE_OPTIONS=json.dumps(given)),
                cwd=mcp_program.language.folder,
            )
            tools, results = anyio.run(_use, parameters, calls)
            return Use(tools, results, recorder)

        use.recorder = recorder  # type: ignore[attr-defined]  # the service of the server
        yield use


async def _use(parameters: StdioServerParameters, calls: Any) -> tuple[set[str], list[CallToolResult]]:
    with anyio.fail_after(TIMEOUT_S):
        async with Client(stdio_client(parameters)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            results = [await _call(client.call_tool, name, arguments) for name, arguments in calls]
    return tools, results


async def _call(call_tool: Callable[..., Awaitable[Any]], name: str, arguments: dict[str, Any]) -> CallToolResult:
    result: CallToolResult = await call_tool(name, arguments)
    return result


def members_of(result: CallToolResult) -> dict[str, Any]:
    """Return the members that a result has beside the tool's own."""
    content = result.structured_content
    if isinstance(content, dict) and ENVELOPE in content:
        return dict(content)
    block = result.content[-1]
    assert isinstance(block, TextContent)
    members: dict[str, Any] = json.loads(block.text)
    return members


@pytest.mark.parametrize("mode", ["never_ask", "ask_once", "ask_always"])
def test_the_tools(session: Session, mode: str) -> None:
    assert session(mode=mode).tools == BUSINESS_TOOLS | set(MCP["tools"])


def test_no_tools_in_the_mode_off(session: Session) -> None:
    use = session(("plain", {"text": "a"}), mode="off")
    assert use.tools == BUSINESS_TOOLS
    assert ENVELOPE not in use.results[0].model_dump_json()
    assert use.recorder.all() == []


def test_the_envelope_in_the_structured_content(session: Session) -> None:
    use = session(("plain", {"text": "hello"}))
    (result,) = use.results
    assert [block.text for block in result.content if isinstance(block, TextContent)] == ["hello"]
    assert isinstance(result.structured_content, dict)
    envelope = result.structured_content[ENVELOPE]
    claims = envelopes.check(envelope, "never_ask", use.recorder.url, reliability="mcp")
    (event,) = use.events
    expected = {
        "interactionId": claims["i"],
        "surface": MCP["surface"],
        "classification": MCP["classification"],
        "operation": "plain",
        "statusCode": MCP["statusCode"],
    }
    assert {name: event[name] for name in expected} == expected
    validate("telemetry-batch", use.recorder.of(PATHS["telemetry"])[0].content)


def test_the_envelope_beside_an_output_schema(session: Session) -> None:
    use = session(("typed", {"text": "hello"}))
    (result,) = use.results
    assert result.structured_content == {"text": "hello"}
    envelopes.check(members_of(result)[ENVELOPE], "never_ask", use.recorder.url, reliability="mcp")


@pytest.mark.parametrize("tool", ["refuse", "fail"])
def test_a_failure_counts_as_500(session: Session, tool: str) -> None:
    use = session((tool, {"text": "sorry"}))
    assert use.results[0].is_error
    assert "sorry" in use.results[0].model_dump_json()
    (event,) = use.events
    assert (event["operation"], event["statusCode"]) == (tool, MCP["errorStatusCode"])
    assert event["classification"] == MCP["classification"]


@pytest.mark.parametrize("mode", ["ask_once", "ask_always"])
def test_the_consent_question(session: Session, mode: str) -> None:
    use = session(("plain", {"text": "hello"}), mode=mode)
    state = "ask_once_without_customer" if mode == "ask_once" else mode
    envelopes.check(members_of(use.results[0])[ENVELOPE], state, use.recorder.url, reliability="mcp")


@pytest.mark.parametrize("tool", MCP["tools"])
def test_the_five_tools_forward_to_the_service(session: Session, tool: str) -> None:
    path, body = BODIES[tool]
    token = HANDLE if tool in (ANSWER_TOOL, CONTEXT_CONSENT_TOOL) else mint()
    use = session((tool, {"authorization": f"Bearer {token}", **body}))
    assert not use.results[0].is_error
    (request,) = use.recorder.all()
    assert (request.method, request.target, request.content) == ("POST", PATHS[path], body)
    assert request.headers["authorization"] == f"Bearer {token}"
    assert use.events == [], "they are no use of the product"


@pytest.mark.parametrize("tool", MCP["tools"])
def test_without_the_authorization_of_an_envelope_nothing_is_sent(session: Session, tool: str) -> None:
    _path, body = BODIES[tool]
    use = session((tool, {"authorization": f"Bearer {COMPANY_KEY}", **body}))
    assert use.results[0].is_error
    assert use.recorder.all() == []


def test_context_is_asked_for(session: Session) -> None:
    use = session(("ask", {"text": "hello"}), companyKey=COMPANY_KEY)
    (request,) = use.recorder.of(PATHS["enrichment"])
    validate("enrichment-request", request.content)
    assert (request.content["surface"], request.content["operation"]) == ("mcp", "ask")
    assert "requestObservation" not in request.content
    assert CONTEXT in members_of(use.results[0])


@pytest.mark.parametrize("reply", [Reply(500), CUT])
def test_the_tools_work_while_the_service_does_not(session: Session, reply: Reply) -> None:
    session.recorder.always("*", reply)  # type: ignore[attr-defined]  # set by the fixture
    use = session(("plain", {"text": "hello"}), ("ask", {"text": "hello"}), companyKey=COMPANY_KEY, maxAttempts=1)
    for result in use.results:
        assert isinstance(result.content[0], TextContent)
        assert (result.content[0].text, bool(result.is_error)) == ("hello", False)
        assert ENVELOPE in members_of(result)
