"""Agents use real products that we did not write, and say truthfully how it went, in every consent mode."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
import requests
from agent_feedback.agent import Received, discover
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from app.products.rules import Mode
from tests.conftest import ROOT
from tests.factories import Company
from tests.journeys.running import running_product
from tests.journeys.stack import Stack

SOURCE = str(ROOT / "sdk/python/src")
COMMAND = [sys.executable, "-m", "agent_feedback"]


@dataclass(frozen=True)
class Task:
    """What an agent asks of httpbin, and how it judges the answer."""

    path: str
    judge: Callable[[dict[str, Any]], bool]

    def review(self, content: dict[str, Any]) -> tuple[str, str]:
        if self.judge(content):
            return "success", f"The answer to {self.path} had what was asked for."
        return "failure", f"The answer to {self.path} did not have what was asked for."

    def report(self, content: dict[str, Any]) -> dict[str, Any]:
        outcome, sentence = self.review(content)
        kind = "strength" if outcome == "success" else "gap"
        finding = {"kind": kind, "topic": "content", "detail": sentence}
        return {"summary": sentence, "impact": "helped" if kind == "strength" else "hindered", "findings": [finding]}


TASKS = [
    Task("/get?word=pear", lambda content: content["args"] == {"word": "pear"}),
    # httpbin answers with a fixed slide show, whatever title is asked for.
    Task("/json?title=pear", lambda content: content["slideshow"]["title"] == "pear"),
]


@dataclass(frozen=True)
class Products:
    """The mounts of one product, and the company behind each."""

    stack: Stack
    url: str
    companies: dict[str, Company]

    def get(self, mode: str, path: str, customer: str | None = None) -> requests.Response:
        headers = {"X-Customer": customer} if customer else {}
        return requests.get(f"{self.url}/{mode}{path}", headers=headers, timeout=30)

    def stored(self, mode: str) -> list[tuple[str, str, str]]:
        """Return outcome, note and the report's summary of each interaction with a review."""
        return self.stack.query(
            "SELECT r.outcome, r.note, p.summary FROM reviews r JOIN reports p USING (environment_id, interaction_id) "
            "WHERE r.environment_id = %s ORDER BY r.created_at",
            str(self.companies[mode].environment_id),
        )


@pytest.fixture(scope="module")
def products(stack: Stack) -> Iterator[Products]:
    modes = [Mode.NEVER_ASK, Mode.ASK_ONCE, Mode.ASK_ALWAYS, Mode.OFF]
    companies = dict(zip(map(str, modes), stack.create_companies(*modes), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODUCT_KEYS", json.dumps({mode: company.product_key for mode, company in companies.items()}))
        with running_product(stack.url, "", app="tests.journeys.mounted_httpbin:app") as url:
            yield Products(stack, url, companies)


def receive(products: Products, response: requests.Response) -> Received:
    received = discover(response, allowed_origins=[products.stack.url])
    assert received
    return received


def send(received: Received, task: Task, content: dict[str, Any]) -> tuple[str, str, str]:
    """Send a truthful review and report, as their previews had them, and return what is stored."""
    outcome, note = task.review(content)
    report = task.report(content)
    previews = received.preview_outcome(outcome, note), received.preview_report(**report)
    review, stored_report = received.submit_outcome(outcome, note)["review"], received.submit_report(**report)["report"]
    for preview, stored, name in zip(previews, (review, stored_report), ("review", "report"), strict=True):
        assert preview["wouldBeStored"]
        assert preview[name].items() <= stored.items()
    assert received.preview_outcome(outcome, note)["wouldBeStored"] is False
    return outcome, note, report["summary"]


@pytest.mark.parametrize("mode", ["never_ask", "ask_once", "ask_always"])
def test_an_http_agent_tells_truthfully_how_it_went(products: Products, mode: str) -> None:
    customer = f"customer_{uuid.uuid4().hex}"
    sent = []
    for task in TASKS:
        response = products.get(mode, task.path, customer)
        received = receive(products, response)
        if received.question:
            state = received.introspect()["state"]
            # A process that has not heard of an approval for good asks again; the service knows better.
            assert state == ("feedback_ready" if mode == "ask_once" and sent else "consent_required")
            if received.question:
                assert received.decide("approved")["changed"]
        assert received.state == "feedback_ready"
        sent.append(send(received, task, response.json()))
    assert [outcome for outcome, *_ in sent] == ["success", "failure"]
    assert products.stored(mode)[-2:] == sent


@pytest.mark.parametrize("mode", ["ask_once", "ask_always"])
def test_what_the_user_declines_is_not_sent(products: Products, mode: str) -> None:
    before = products.stored(mode)
    received = receive(products, products.get(mode, TASKS[0].path, f"customer_{uuid.uuid4().hex}"))
    received.decide("declined")
    with pytest.raises(ValueError, match="nothing may be submitted in the state feedback_disabled"):
        received.submit_outcome("success", "The answer had what was asked for.")
    assert products.stored(mode) == before


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
        return {mode: await _use(client, products, mode) for mode in ("never_ask", "ask_once", "ask_always")}


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
