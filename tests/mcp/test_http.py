"""The HTTP side of the read server: its key, its methods, its errors and its tenants."""

import subprocess
import sys
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.core.database import transaction
from app.mcp import tools
from app.mcp.untrusted import unmark
from tests.factories import Company, bearer, create_company, create_read_key
from tests.mcp.conftest import Reader
from tests.reading.test_operations import count_day

ACCEPT = {"Accept": "application/json, text/event-stream"}


def send(reader: Reader, method: str, key: str | None = None, **params: Any) -> TestResponse:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return reader.client.post("/mcp", json=message, headers={**ACCEPT, **bearer(key or reader.key)})


def call_tool(reader: Reader, name: str, **arguments: Any) -> dict[str, Any]:
    response = send(reader, "tools/call", name=name, arguments=arguments)
    assert response.status_code == 200, response.text
    result: dict[str, Any] = response.json["result"]
    return result


def test_an_answer_is_kept_by_no_cache(reader: Reader) -> None:
    response = send(reader, "tools/list")
    assert response.headers["Cache-Control"] == "private, no-store"
    assert response.content_type == "application/json"


@pytest.mark.parametrize("kind", ["product_key", "company_key"])
def test_other_keys_are_refused(reader: Reader, kind: str) -> None:
    response = send(reader, "tools/list", key=getattr(reader.company, kind))
    assert response.status_code == 401
    assert "af_read_" in response.json["error"]
    assert response.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_there_are_no_streams_and_no_sessions(reader: Reader, method: str) -> None:
    response = reader.client.open("/mcp", method=method, headers={**ACCEPT, **bearer(reader.key)})
    assert response.status_code == 405
    assert "POST" in response.headers["Allow"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 10_000])
def test_what_is_no_json_is_the_callers_error(reader: Reader, body: bytes) -> None:
    headers = {**ACCEPT, **bearer(reader.key), "Content-Type": "application/json"}
    response = reader.client.post("/mcp", data=body, headers=headers)
    assert response.status_code == 400
    assert response.json["error"]["code"] == -32700


def test_an_unknown_tool_is_an_error_of_the_protocol(reader: Reader) -> None:
    response = send(reader, "tools/call", name="delete_everything", arguments={})
    assert response.json["error"]["code"] == -32602
    assert "list_reviews" in response.json["error"]["message"]


def test_a_failure_of_ours_is_answered_as_everywhere(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tools.TOOLS["list_reviews"]

    def fail(*_: Any) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setitem(tools.TOOLS, "list_reviews", tool._replace(query=fail))
    response = send(reader, "tools/call", name="list_reviews", arguments={})
    assert response.status_code == 500
    assert response.json["code"] == "internal_error"
    assert "secret detail" not in response.text


def test_nobody_reads_another_tenants_data(reader: Reader) -> None:
    with transaction():
        other = create_company()
    other_reader = Reader(reader.client, other, create_read_key(other.environment_id))
    reader.store_review()
    assert len(call_tool(reader, "list_reviews")["structuredContent"]["items"]) == 1
    assert call_tool(other_reader, "list_reviews")["structuredContent"]["items"] == []


def test_the_worst_operation_comes_first(reader: Reader, company: Company) -> None:
    count_day(company, "/fine", 200, 99, 0, 1)
    count_day(company, "/broken", 20, 1, 0, 9)
    answer = call_tool(reader, "worst_operations", limit=1)["structuredContent"]
    assert [unmark(item["operation"]) for item in answer["items"]] == ["/broken"]


def test_a_page_of_another_site_is_refused(reader: Reader) -> None:
    headers = {**ACCEPT, **bearer(reader.key), "Origin": "https://elsewhere.example"}
    response = reader.client.post("/mcp", json={}, headers=headers)
    assert (response.status_code, response.json["code"]) == (403, "foreign_origin")


def test_the_sdk_is_not_loaded_before_it_is_needed() -> None:
    code = "import sys; import app.blueprints; sys.exit('mcp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
