"""The tools for agents on an MCP server: they forward to the service, and nothing of it fails a call."""

import json
import logging
from typing import Any

import pytest
from agent_feedback import CustomerReferences
from agent_feedback.mcp import current_call
from jsonschema import Draft202012Validator
from mcp.server.mcpserver import MCPServer
from mcp.types import CallToolResult

from app.core import protocol
from tests.sdk.endpoint import HANG_UP, Endpoint, Reply
from tests.sdk.mcp_shop import call, envelope_of, every_era, make_server, run
from tests.sdk.shop import HANDLE, CompanyClient, context_action, json_reply, requests_of

TOKEN = "Bearer afr2_" + "x" * 60
TEXTS = protocol.read("instructions.json")["mcp"]
BODIES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "report_product_outcome": ("outcomes", TOKEN, {"outcome": "success", "note": "All orders were there."}),
    "report_product_feedback": ("reports", TOKEN, {"summary": "All orders were there."}),
    "record_product_feedback_consent": ("decisions", TOKEN, {"decision": "approved"}),
    "share_customer_context": ("answers", f"Bearer {HANDLE}", {"status": "no_relevant_context"}),
    "record_customer_context_consent": ("contextConsent", f"Bearer {HANDLE}", {"decision": "declined"}),
}


@pytest.fixture(autouse=True)
def quiet_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("mcp"), "disabled", True)
    monkeypatch.setattr("agent_feedback.mcp.tools._RETRY_DELAY_S", 0.01)


@pytest.fixture
def server(endpoint: Endpoint) -> MCPServer:
    return CompanyClient(endpoint.url, company_key=None, relay_timeout=5.0).mcp(make_server())


def text_of(result: CallToolResult) -> str:
    return str(result.content[0].text)


@every_era
@pytest.mark.parametrize("name", BODIES)
def test_a_tool_forwards_its_body_with_the_agents_own_authorization(
    server: MCPServer, endpoint: Endpoint, name: str, era: str
) -> None:
    path, authorization, body = BODIES[name]
    endpoint.replies = [json_reply({"stored": True})]
    result = call(server, name, era, authorization=authorization, **body)
    assert (result.is_error, result.structured_content) == (False, {"stored": True})
    assert json.loads(text_of(result)) == {"stored": True}
    (request,) = endpoint.requests
    assert (request.path, request.content) == (protocol.read("contract.json")["paths"][path], body)
    assert request.headers["Authorization"] == authorization


def test_a_tool_takes_what_its_schema_says(server: MCPServer) -> None:
    tools = {tool.name: tool for tool in run(server, lambda client: client.list_tools()).tools}
    for name, (_, authorization, body) in BODIES.items():
        validator = Draft202012Validator(tools[name].input_schema)
        validator.validate({"authorization": authorization, **body})
        assert not validator.is_valid(body)
        assert not validator.is_valid({"authorization": authorization, **body, "prompt": "x"})
        assert tools[name].description == TEXTS["tools"][name]["description"]


def test_the_token_may_come_without_its_scheme(server: MCPServer, endpoint: Endpoint) -> None:
    endpoint.replies = [json_reply({})]
    call(server, "record_product_feedback_consent", authorization=TOKEN.split()[1], decision="declined")
    assert endpoint.requests[0].headers["Authorization"] == TOKEN


def test_a_refusal_of_the_service_is_the_tools_error(server: MCPServer, endpoint: Endpoint) -> None:
    problem = {"error": "The body is not valid.", "code": "invalid", "errors": [{"pointer": "/note"}]}
    endpoint.replies = [json_reply(problem, 422)]
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", note="x")
    assert (result.is_error, result.structured_content) == (True, problem)


@pytest.mark.parametrize("replies", [[503, 503], [HANG_UP, HANG_UP], [500, HANG_UP]])
def test_a_service_that_fails_twice_is_told_politely(server: MCPServer, endpoint: Endpoint, replies: list[int]) -> None:
    endpoint.replies = [Reply(status) for status in replies]
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", note="It worked.")
    assert (result.is_error, text_of(result)) == (True, TEXTS["failures"]["unavailable"])
    assert len(endpoint.requests) == 2


def test_one_failure_is_tried_again(server: MCPServer, endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(503), json_reply({"stored": True})]
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", note="It worked.")
    assert result.structured_content == {"stored": True}


@pytest.mark.parametrize("reply", [Reply(302, b"{}"), Reply(200, b"<html>"), Reply(200, b"[]")])
def test_an_answer_that_is_not_the_services_is_none(server: MCPServer, endpoint: Endpoint, reply: Reply) -> None:
    endpoint.replies = [reply]
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", note="It worked.")
    assert text_of(result) == TEXTS["failures"]["unavailable"]


def test_a_service_that_does_not_answer_is_given_up(endpoint: Endpoint) -> None:
    server = CompanyClient(endpoint.url, company_key=None, relay_timeout=0.05).mcp(make_server())
    endpoint.gate.clear()
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", note="It worked.")
    assert text_of(result) == TEXTS["failures"]["unavailable"]


@pytest.mark.parametrize("authorization", [None, "", "Bearer x", TOKEN + "\n", f"Bearer {HANDLE}", 7])
def test_something_else_than_a_capability_is_not_forwarded(
    server: MCPServer, endpoint: Endpoint, authorization: Any
) -> None:
    arguments = {} if authorization is None else {"authorization": authorization}
    result = call(server, "report_product_outcome", outcome="success", note="It worked.", **arguments)
    if authorization == TOKEN + "\n":
        assert endpoint.requests[0].headers["Authorization"] == TOKEN
    else:
        assert (result.is_error, text_of(result)) == (True, TEXTS["failures"]["unauthorized"])
        assert endpoint.requests == []


@pytest.mark.parametrize("extra", [{"prompt": "Tell me"}, {"note": "x" * 70_000}])
def test_what_is_no_such_body_is_not_forwarded(server: MCPServer, endpoint: Endpoint, extra: dict[str, str]) -> None:
    result = call(server, "report_product_outcome", authorization=TOKEN, outcome="success", **extra)
    assert (result.is_error, text_of(result)) == (True, TEXTS["failures"]["invalid"])
    assert endpoint.requests == []


def make_asking_server(feedback: CompanyClient, **arguments: Any) -> MCPServer:
    server = feedback.mcp(MCPServer("shop"))

    @server.tool(structured_output=False)
    def recommend() -> str:
        feedback.customer_context.ask(current_call(), **{"purpose": "product_personalization", **arguments})
        return "Shoes"

    @server.tool()
    async def suggest() -> str:
        feedback.customer_context.ask(current_call(), **{"purpose": "product_personalization", **arguments})
        return "Shoes"

    return server


@pytest.mark.parametrize("name", ["recommend", "suggest"])
def test_a_tool_may_request_context(endpoint: Endpoint, name: str) -> None:
    feedback = CompanyClient(endpoint.url)
    endpoint.replies = [json_reply(context_action(endpoint.url))]
    customer = CustomerReferences(user_ref="user_42")
    server = make_asking_server(feedback, customer=customer, field_keys=["shop.size"])
    result = call(server, name)
    members = result.structured_content if name == "recommend" else json.loads(result.content[-1].text)
    action = members["_service"]["customerContext"]
    assert action["submit"]["authorization"] == f"Bearer {HANDLE}"
    (request,) = requests_of(endpoint)
    (event,) = feedback.events
    assert (request["surface"], request["operation"], request["statusCode"]) == ("mcp", name, 200)
    assert (request["userRef"], request["fieldKeys"]) == ("user_42", ["shop.size"])
    assert request["interactionId"] == event["interactionId"]
    assert "requestObservation" not in request


def test_context_without_a_customer_is_not_requested(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    server = make_asking_server(CompanyClient(endpoint.url))
    result = call(server, "recommend")
    assert "_service" not in result.structured_content
    assert envelope_of(result)["v"] == 1
    assert requests_of(endpoint) == []
    assert "customer reference" in caplog.text


def test_context_that_fails_costs_nothing_else(endpoint: Endpoint) -> None:
    endpoint.replies = [Reply(500)]
    server = make_asking_server(CompanyClient(endpoint.url), customer=CustomerReferences(user_ref="user_42"))
    assert list(call(server, "recommend").structured_content) == ["result", "_agentFeedback"]


def test_outside_of_a_tool_there_is_no_call() -> None:
    assert current_call() == {}
