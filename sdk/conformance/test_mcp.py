"""MCP servers: the five tools, the envelope in results, and each completed call as a confirmed interaction."""

import json
from collections.abc import Callable, Iterator
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
from conformance.recorder import CUT, Recorded, Recorder, Reply, recording

MCP = CONTRACT["mcp"]
OUTCOME_TOOL, REPORT_TOOL, CONSENT_TOOL, ANSWER_TOOL, CONTEXT_CONSENT_TOOL = MCP["tools"]
BUSINESS_TOOLS = ("plain", "typed", "refuse", "fail", "ask")
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
    """What came of one session with a server, in which every tool was called."""

    tools: set[str]
    results: dict[str, CallToolResult]
    requests: dict[str, list[Recorded]]
    """What came to the service during each call."""
    telemetry: list[Recorded]
    url: str

    @property
    def events(self) -> list[dict[str, Any]]:
        return [event for request in self.telemetry for event in request.events]


Session = Callable[..., Use]

GOOD_TOKENS = {tool: HANDLE if tool in (ANSWER_TOOL, CONTEXT_CONSENT_TOOL) else mint() for tool in MCP["tools"]}


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield a name, a tool and arguments for each call of a session."""
    for tool in BUSINESS_TOOLS:
        yield tool, tool, {"text": "hello"}
    for tool, (_path, body) in BODIES.items():
        yield tool, tool, {"authorization": f"Bearer {GOOD_TOKENS[tool]}", **body}
        yield f"{tool}, badly", tool, {"authorization": f"Bearer {COMPANY_KEY}", **body}


@pytest.fixture(scope="module")
def session(mcp_program: Program) -> Session:
    """Run a server for one session with these options, once for all cases."""
    uses: dict[str, Use] = {}

    def use(reply: Reply | None = None, **options: Any) -> Use:
        name = f"{reply} {options}"
        if name not in uses:
            with recording() as recorder:
                if reply:
                    recorder.always("*", reply)
                uses[name] = anyio.run(_use, mcp_program, recorder, options)
        return uses[name]

    return use


async def _use(program: Program, recorder: Recorder, options: dict[str, Any]) -> Use:
    defaults = {"apiKey": KEY, "companyKey": COMPANY_KEY, "endpoint": recorder.url, "contextTimeout": 3000}
    command, *arguments = program.command
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env=environment(CONFORMANCE_OPTIONS=json.dumps({**defaults, **options})),
        cwd=program.language.folder,
    )
    results, requests = {}, {}
    with anyio.fail_after(TIMEOUT_S):
        async with Client(stdio_client(parameters)) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            for name, tool, members in calls():
                count = len(recorder.all())
                if tool in tools:
                    results[name] = await client.call_tool(tool, members)
                requests[name] = [one for one in recorder.all()[count:] if one.target != PATHS["telemetry"]]
    # The end of the session has flushed it.
    return Use(tools, results, requests, recorder.of(PATHS["telemetry"]), recorder.url)


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
    assert session(mode=mode).tools == set(BUSINESS_TOOLS) | set(MCP["tools"])


def test_no_tools_in_the_mode_off(session: Session) -> None:
    use = session(mode="off")
    assert use.tools == set(BUSINESS_TOOLS)
    assert ENVELOPE not in use.results["plain"].model_dump_json()
    assert use.telemetry == []


def test_the_envelope_in_the_structured_content(session: Session) -> None:
    use = session(mode="never_ask")
    result = use.results["plain"]
    assert [block.text for block in result.content if isinstance(block, TextContent)] == ["hello"]
    assert isinstance(result.structured_content, dict)
    claims = envelopes.check(result.structured_content[ENVELOPE], "never_ask", use.url, reliability="mcp")
    (event,) = (event for event in use.events if event["operation"] == "plain")
    expected = {
        "interactionId": claims["i"],
        "surface": MCP["surface"],
        "classification": MCP["classification"],
        "statusCode": MCP["statusCode"],
    }
    assert {name: event[name] for name in expected} == expected
    validate("telemetry-batch", use.telemetry[0].content)


def test_the_envelope_beside_an_output_schema(session: Session) -> None:
    use = session(mode="never_ask")
    result = use.results["typed"]
    assert result.structured_content == {"text": "hello"}
    envelopes.check(members_of(result)[ENVELOPE], "never_ask", use.url, reliability="mcp")


@pytest.mark.parametrize("tool", ["refuse", "fail"])
def test_a_failure_counts_as_500(session: Session, tool: str) -> None:
    use = session(mode="never_ask")
    assert use.results[tool].is_error
    (event,) = (event for event in use.events if event["operation"] == tool)
    assert (event["statusCode"], event["classification"]) == (MCP["errorStatusCode"], MCP["classification"])


def test_an_error_result_is_the_tools_own(session: Session) -> None:
    block = session(mode="never_ask").results["refuse"].content[0]
    assert isinstance(block, TextContent)
    assert block.text == "hello"


def test_each_business_call_is_one_event(session: Session) -> None:
    operations = [event["operation"] for event in session(mode="never_ask").events]
    assert sorted(operations) == sorted(BUSINESS_TOOLS), "and the five tools are none"


@pytest.mark.parametrize("mode", ["ask_once", "ask_always"])
def test_the_consent_question(session: Session, mode: str) -> None:
    use = session(mode=mode)
    state = "ask_once_without_customer" if mode == "ask_once" else mode
    envelopes.check(members_of(use.results["plain"])[ENVELOPE], state, use.url, reliability="mcp")


@pytest.mark.parametrize("tool", MCP["tools"])
def test_the_five_tools_forward_to_the_service(session: Session, tool: str) -> None:
    path, body = BODIES[tool]
    use = session(mode="never_ask")
    assert not use.results[tool].is_error
    (request,) = use.requests[tool]
    assert (request.method, request.target, request.content) == ("POST", PATHS[path], body)
    assert request.headers["authorization"] == f"Bearer {GOOD_TOKENS[tool]}"


@pytest.mark.parametrize("tool", MCP["tools"])
def test_without_the_authorization_of_an_envelope_nothing_is_sent(session: Session, tool: str) -> None:
    use = session(mode="never_ask")
    assert use.results[f"{tool}, badly"].is_error
    assert use.requests[f"{tool}, badly"] == []


def test_context_is_asked_for(session: Session) -> None:
    use = session(mode="never_ask")
    (request,) = use.requests["ask"]
    assert request.target == PATHS["enrichment"]
    validate("enrichment-request", request.content)
    assert (request.content["surface"], request.content["operation"]) == ("mcp", "ask")
    assert "requestObservation" not in request.content
    assert CONTEXT in members_of(use.results["ask"])


@pytest.mark.parametrize("reply", [Reply(500), CUT], ids=["500", "cut"])
def test_the_tools_work_while_the_service_does_not(session: Session, reply: Reply) -> None:
    use = session(reply, mode="never_ask", maxAttempts=1)
    for tool in ("plain", "ask"):
        block = use.results[tool].content[0]
        assert isinstance(block, TextContent)
        assert (block.text, bool(use.results[tool].is_error)) == ("hello", False)
        assert ENVELOPE in members_of(use.results[tool])
