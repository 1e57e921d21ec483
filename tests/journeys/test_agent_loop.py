"""Agents use real products that we did not write, and say truthfully how it went, in every consent mode."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
import requests
from agent_feedback.agent import discover
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.conftest import ROOT
from tests.journeys.reviewing import (
    ASKING_MODES,
    FEEDBACK_MODES,
    Products,
    Task,
    companies_of_all_modes,
    decline,
    tell_truthfully,
)
from tests.journeys.running import running_product
from tests.journeys.stack import Stack

SOURCE = str(ROOT / "sdk/python/src")
COMMAND = [sys.executable, "-m", "agent_feedback"]


TASKS = [
    Task("/get?word=pear", lambda content: content["args"] == {"word": "pear"}),
    # httpbin answers with a fixed slide show, whatever title is asked for.
    Task("/json?title=pear", lambda content: content["slideshow"]["title"] == "pear"),
]


@pytest.fixture(scope="module")
def products(stack: Stack) -> Iterator[Products]:
    with (
        companies_of_all_modes(stack) as companies,
        running_product(stack.url, "", app="tests.journeys.mounted_httpbin:app") as url,
    ):
        yield Products(stack, companies, url)


@pytest.mark.parametrize("mode", FEEDBACK_MODES)
def test_an_http_agent_tells_truthfully_how_it_went(products: Products, mode: str) -> None:
    tell_truthfully(products, mode, TASKS)


@pytest.mark.parametrize("mode", ASKING_MODES)
def test_what_the_user_declines_is_not_sent(products: Products, mode: str) -> None:
    decline(products, mode, TASKS[0])


def test_a_product_that_wants_nothing_gets_nothing(products: Products) -> None:
    response = products.get("off", TASKS[0].path)
    assert TASKS[0].judge(response.json())
    assert discover(response, allowed_origins=[products.stack.url]) is None


def test_an_mcp_client_does_the_same_through_its_own_server(products: Products) -> None:
    sent = anyio.run(_use_all_modes, products)
    for mode, reviews in sent.items():
        assert products.stored(mode)[-2:] == reviews


async def _use_all_modes(products: Products) -> dict[str, list[tuple[str, str, str]]]:
    arguments = ["-m", "agent_feedback", "agent", "mcp", "--allow-origin", products.stack.url]
    command = StdioServerParameters(command=sys.executable, args=arguments, env={"PYTHONPATH": SOURCE})
    async with Client(stdio_client(command)) as client:
        off = await _call(client, "inspect_product_feedback", url=f"{products.url}/off/get")
        assert off["state"] == "not_requested"
        return {mode: await _use(client, products, mode) for mode in FEEDBACK_MODES}


async def _use(client: Client, products: Products, mode: str) -> list[tuple[str, str, str]]:
    headers = {"X-Customer": f"customer_{uuid.uuid4().hex}"}
    sent = []
    for task in TASKS:
        url = f"{products.url}/{mode}{task.path}"
        response = await anyio.to_thread.run_sync(lambda url=url: requests.get(url, headers=headers, timeout=30))
        seen = await _call(client, "inspect_product_feedback", response=response.text)
        envelope = {"envelopeId": seen["envelopeId"]}
        if seen["state"] == "consent_required":
            assert "May I send this product's provider" in seen["question"]
            await _call(client, "decide_product_feedback", **envelope, decision="approved")
        outcome, note = task.review(response.json())
        report = task.report(response.json())
        await _call(client, "submit_product_outcome", **envelope, outcome=outcome, note=note)
        await _call(client, "submit_product_report", **envelope, report=report)
        sent.append((outcome, note, report["summary"]))
    return sent


async def _call(client: Client, name: str, /, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, result.content
    content: dict[str, Any] = result.structured_content
    return content


def test_a_person_sees_every_word_before_it_goes(products: Products) -> None:
    url = f"{products.url}/never_ask{TASKS[0].path}"
    words = ["--outcome", "success", "--note", "The answer had what was asked for."]
    preview = _run(products, "agent", "report", url, *words, "--preview")
    assert preview.returncode == 0, preview.stderr
    assert '"note": "The answer had what was asked for."' in preview.stdout
    assert "The service would store:" in preview.stdout
    sent = _run(products, "agent", "report", url, *words, "--yes", "--json")
    assert json.loads(sent.stdout)["review"]["note"] == "The answer had what was asked for."


def test_the_doctor_finds_a_healthy_product_healthy(products: Products) -> None:
    company = products.companies["never_ask"]
    environment = ["--environment", str(company.environment_id)]
    read_key = products.stack.flask("key", "create", *environment, "--kind", "read")["key"]
    keys = {"AGENT_FEEDBACK_KEY": company.product_key, "AGENT_FEEDBACK_READ_KEY": read_key}
    reviews = products.stored("never_ask")
    result = _run(products, "doctor", f"{products.url}/never_ask/get", "--json", **keys)
    findings = json.loads(result.stdout)
    assert (result.returncode, {finding["status"] for finding in findings}) == (0, {"PASS"}), findings
    checks = [finding["check"] for finding in findings]
    assert checks == ["product", "envelope", "protocol", "cache", "capability", "mode", "key", "key", "telemetry"]
    assert products.stored("never_ask") == reviews


def test_the_doctor_sees_that_the_modes_differ(products: Products) -> None:
    company = products.companies["ask_always"]
    with running_product(products.stack.url, company.product_key, "never_ask") as url:
        result = _run(products, "doctor", f"{url}/get")
    assert result.returncode == 1
    assert "FAIL  mode:       the SDK has never_ask, the service ask_always" in result.stdout


def _run(products: Products, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    environ = {**os.environ, "PYTHONPATH": SOURCE, "AGENT_FEEDBACK_URL": products.stack.url, **variables}
    return subprocess.run([*COMMAND, *words], env=environ, capture_output=True, text=True, timeout=60, check=False)
