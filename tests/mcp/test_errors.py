"""What is wrong with a message is said in a sentence, and nothing of the message is repeated."""

import asyncio
import json
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.mcp.exchange import Exchange
from tests.factories import bearer
from tests.mcp.conftest import Reader
from tests.mcp.test_http import ACCEPT, call_tool, send

SECRET = "SECRETVALUE"
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}


def post(reader: Reader, message: Any, **headers: str) -> TestResponse:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    all_headers = {**ACCEPT, **bearer(reader.key), "Content-Type": "application/json", **names}
    return reader.client.post("/mcp", data=json.dumps(message), headers=all_headers)


def envelope(**members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, **members}


MALFORMED = {
    "version": (envelope(jsonrpc="1.0", method="ping", params={"x": SECRET}), '`jsonrpc` must be "2.0".'),
    "empty batch": ([], "send one message, not a batch."),
    "batch": ([envelope(method=SECRET)], "send one message, not a batch."),
    "null": (None, "a message is a JSON object."),
    "text": (SECRET, "a message is a JSON object."),
    "positional params": (envelope(method="ping", params=[SECRET]), "`params` must be an object."),
    "method": (envelope(method=[SECRET]), "`method` must be a text."),
    "no id": ({"jsonrpc": "2.0", "id": None, "method": "ping"}, "`id` must be a text or a whole number."),
    "no id of a result": ({"jsonrpc": "2.0", "id": None, "result": {}, "error": {}}, "`id` must be a text"),
    "boolean id": (envelope(id=True, method="ping"), "`id` must be a text or a whole number."),
    "fraction": (envelope(id=1.5, method="ping"), "`id` must be a text or a whole number."),
    "neither": (envelope(x=SECRET), "a message has a `method`, or else a `result` or an `error`."),
    "result": (envelope(result=SECRET), "`result` must be an object."),
    "error": (envelope(error={"code": SECRET, "message": ""}), "`error` must be an object with a `code`"),
    "code": (envelope(error={"code": "1", "message": ""}), "`error` must be an object with a `code`"),
    "result without id": ({"jsonrpc": "2.0", "result": {"x": SECRET}}, "a response has the `id` of its request."),
}


@pytest.mark.parametrize("version", [None, MODERN])
@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_message_is_told_in_a_sentence(reader: Reader, name: str, version: str | None) -> None:
    message, sentence = MALFORMED[name]
    response = post(reader, message, **({"MCP_Protocol_Version": version} if version else {}))
    assert response.status_code == 400
    assert response.json["id"] is None
    assert response.json["error"]["code"] == -32600
    assert response.json["error"]["message"].startswith(f"Invalid Request: {sentence}")
    assert SECRET not in response.text


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}},
        {"jsonrpc": "2.0", "method": "notifications/unknown", "params": None},
        envelope(result={}),
        envelope(error={"code": 1, "message": "It failed."}),
        {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "It failed."}},
    ],
)
def test_notifications_and_responses_are_taken(reader: Reader, message: dict[str, Any]) -> None:
    response = post(reader, message)
    assert (response.status_code, response.data) == (202, b"")


@pytest.mark.parametrize("arguments", [[SECRET], SECRET, 5])
def test_arguments_that_are_no_object_are_told(reader: Reader, arguments: Any) -> None:
    error = send(reader, "tools/call", name="list_reviews", arguments=arguments).json["error"]
    assert error == {"code": -32602, "message": "Invalid params: `arguments` must be an object."}


def test_a_call_without_a_tool_is_told(reader: Reader) -> None:
    error = send(reader, "tools/call", arguments={}).json["error"]
    assert error == {"code": -32602, "message": "Invalid params: `name` must be the name of a tool."}


def test_arguments_that_do_not_fit_are_called_arguments(reader: Reader) -> None:
    wrong_value = call_tool(reader, "list_reviews", limit=0)["structuredContent"]
    assert wrong_value["error"].startswith("An argument has a value that does not fit")
    wrong_shape = call_tool(reader, "list_reviews", unknown=1)["structuredContent"]
    assert wrong_shape["error"].startswith("There are arguments that this tool does not have")
    assert [error["pointer"] for error in wrong_value["errors"] + wrong_shape["errors"]] == ["/limit", "/unknown"]


@pytest.mark.parametrize("version", ["1999-01-01", SECRET, f"{MODERN}, {MODERN}"])
def test_an_unknown_version_is_answered_with_those_that_there_are(reader: Reader, version: str) -> None:
    response = post(reader, envelope(method="ping"), MCP_Protocol_Version=version)
    assert (response.status_code, response.json["id"]) == (400, 1)
    error = response.json["error"]
    assert error["code"] == -32022
    assert "2025-06-18" in error["message"]
    assert MODERN in error["data"]["supported"]
    assert SECRET not in response.text


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain", ""])
@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_another_content_type_is_answered_as_everywhere(reader: Reader, content_type: str, version: str) -> None:
    headers = {"Content_Type": content_type, "MCP_Protocol_Version": version}
    response = post(reader, envelope(method="ping"), **headers)
    assert (response.status_code, response.content_type) == (415, "application/json")
    assert response.json["code"] == "unsupported_media_type"
    assert response.json["requestId"] == response.headers["X-Request-Id"]


@pytest.mark.parametrize("version", ["2025-06-18", MODERN])
def test_who_takes_no_json_is_answered_as_everywhere(reader: Reader, version: str) -> None:
    response = post(reader, envelope(method="ping"), Accept="text/html", MCP_Protocol_Version=version)
    assert (response.status_code, response.content_type) == (406, "application/json")
    assert response.json["code"] == "not_acceptable"


@pytest.mark.parametrize("method", [SECRET, "subscriptions/listen"])
def test_an_unknown_method_is_answered_at_once(reader: Reader, method: str) -> None:
    """The SDK would open a stream for the second one, which no web process has."""
    headers = {"MCP_Protocol_Version": MODERN, "Mcp_Method": method}
    modern = post(reader, envelope(method=method, params={"_meta": META}), **headers)
    legacy = send(reader, method)
    assert (modern.status_code, legacy.status_code) == (404, 200)
    for response in (modern, legacy):
        assert response.json["error"]["code"] == -32601
        assert "tools/call" in response.json["error"]["message"]
        assert method not in response.text


def test_a_request_ends_behind_its_body() -> None:
    """A reader that waits for the end would spin for ever."""
    exchange = Exchange([], b"{}")

    async def receive_twice() -> list[Any]:
        return [await exchange.receive(), await exchange.receive()]

    first, second = asyncio.run(receive_twice())
    assert (first["body"], second["type"]) == (b"{}", "http.disconnect")
