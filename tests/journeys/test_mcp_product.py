"""Products as MCP servers, used by the official client over stdio and HTTP, at the running service."""

import json
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import anyio
from agent_feedback.envelope import ENVELOPE
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import ROOT
from tests.factories import Company
from tests.journeys.running import is_open
from tests.journeys.stack import Stack, free_port, wait_until

NOTE = "All orders of the customer were in the answer."
README = ROOT / "sdk" / "python" / "README.md"
EXAMPLE = re.compile(r"<!-- runs in tests/journeys/test_mcp_product.py -->\n```python\n(.*?)```", re.DOTALL)

T = TypeVar("T")


def environ(stack: Stack, company: Company, mode: str = "never_ask") -> dict[str, str]:
    return {
        **os.environ,
        "AGENT_FEEDBACK_KEY": company.product_key,
        "AGENT_FEEDBACK_COMPANY_KEY": company.company_key,
        "AGENT_FEEDBACK_URL": stack.url,
        "AGENT_FEEDBACK_MODE": mode,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'sdk/python/src'}",
    }


@contextmanager
def running_server(variables: dict[str, str]) -> Iterator[str]:
    """Run the shop over HTTP; yields its URL."""
    port = free_port()
    command = [sys.executable, "-m", "tests.journeys.mcp_product"]
    with subprocess.Popen(
        command, env={**variables, "PORT": str(port)}, cwd=ROOT, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until(lambda: is_open(port), 60)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def use(server: Any, session: Callable[[Client], Awaitable[T]], era: str = "auto") -> T:
    async def connect() -> T:
        async with Client(server, mode=era) as client:
            return await session(client)

    return anyio.run(connect)


async def call(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool and return the members that its result carries."""
    result = await client.call_tool(name, arguments)
    content: dict[str, Any] = result.structured_content or {}
    return content if ENVELOPE in content or name.startswith(("re", "share")) else json.loads(result.content[-1].text)


def interactions(stack: Stack, company: Company) -> list[tuple[Any, ...]]:
    query = """SELECT surface, operation, status_code, classification FROM interactions
        WHERE environment_id = %s ORDER BY occurred_at"""
    return stack.query(query, str(company.environment_id))


def count(stack: Stack, company: Company, table: str) -> int:
    number: int = stack.value(f"SELECT count(*) FROM {table} WHERE environment_id = %s", str(company.environment_id))
    return number


def test_the_example_of_the_readme_is_reviewed_over_stdio(stack: Stack, tmp_path: Path) -> None:
    company = stack.create_company()
    example = EXAMPLE.search(README.read_text())
    assert example
    (tmp_path / "shop.py").write_text(example[1])
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(tmp_path / "shop.py")], env=environ(stack, company)
    )

    async def session(client: Client) -> None:
        envelope = (await call(client, "find_orders", customer="c_1"))[ENVELOPE]
        authorization = envelope["submitOutcome"]["authorization"]
        answer = await call(client, "report_product_outcome", authorization=authorization, outcome="success", note=NOTE)
        assert answer["accepted"]
        answer = await call(client, "report_product_feedback", authorization=authorization, summary=NOTE)
        assert answer["accepted"]

    use(stdio_client(parameters), session)
    assert (count(stack, company, "reviews"), count(stack, company, "reports")) == (1, 1)
    wait_until(lambda: interactions(stack, company) == [("mcp", "find_orders", 200, "confirmed")], 20)


def test_a_question_is_asked_before_a_review_over_http(stack: Stack) -> None:
    product = str(stack.company.product_id)
    environment = stack.flask("environment", "create", "--product", product, "--name", "mcp", "--mode", "ask_always")
    key = stack.flask("key", "create", "--environment", environment["environmentId"], "--kind", "product")["key"]
    company = replace(stack.company, environment_id=environment["environmentId"], product_key=key)

    async def session(client: Client) -> None:
        envelope = (await call(client, "cancel_order", customer="c_1"))[ENVELOPE]
        assert envelope["state"] == "consent_required"
        authorization = envelope["requiredAction"]["submitDecision"]["authorization"]
        review = {"authorization": authorization, "outcome": "failure", "note": "The order could not be cancelled."}
        refusal = await call(client, "report_product_outcome", **review)
        assert refusal["code"] == "consent_missing"
        answer = await call(client, "record_product_feedback_consent", authorization=authorization, decision="approved")
        assert answer["feedback"]["submitOutcome"]["authorization"] == authorization
        assert (await call(client, "report_product_outcome", **review))["accepted"]

    with running_server(environ(stack, company, "ask_always")) as url:
        use(url, session, "legacy")
        use(url, session, "auto")
        assert count(stack, company, "reviews") == 2
        wait_until(lambda: interactions(stack, company) == [("mcp", "cancel_order", 500, "confirmed")] * 2, 20)


def test_context_that_an_agent_shares_changes_the_next_call(stack: Stack) -> None:
    company = stack.create_company()
    customer = f"user_{uuid.uuid4()}"
    item = {"key": "shopping.priority", "type": "preference", "value": "price", "remember": True}
    item["provenance"] = "agent_reports_user_statement"

    async def session(client: Client) -> None:
        members = await call(client, "rank_products", customer=customer)
        assert members["result"] == "boots, sneakers, sandals"
        action = members["_service"]["customerContext"]
        answer = await call(
            client,
            "share_customer_context",
            authorization=action["submit"]["authorization"],
            status="answered",
            items=[item],
        )
        assert answer["state"] == "answered"
        second_members = await call(client, "rank_products", customer=customer)
        assert second_members["result"] == "sneakers, sandals, boots"
        assert "_service" not in second_members
        authorization = action["consent"]["authorization"]
        await call(client, "record_customer_context_consent", authorization=authorization, decision="declined")
        assert (await call(client, "rank_products", customer=customer))["result"] == "boots, sneakers, sandals"

    with running_server(environ(stack, company)) as url:
        use(url, session)
        expected = ("mcp", "rank_products", 200, "confirmed")
        wait_until(lambda: interactions(stack, company) == [expected] * 3, 20)
    query = (
        "SELECT DISTINCT runtime_hint LIKE 'mcp/%%', runtime_hint_source FROM interactions WHERE environment_id = %s"
    )
    assert stack.query(query, str(company.environment_id)) == [(True, "mcp")]
