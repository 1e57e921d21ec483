"""Agents that judge what a product gave them, and what the service then has of it."""

import json
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import requests
from agent_feedback.agent import Received, discover

from app.products.rules import Mode
from tests.factories import Company
from tests.journeys.stack import Stack

ASKING_MODES = ["ask_once", "ask_always"]
FEEDBACK_MODES = ["never_ask", *ASKING_MODES]


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


@dataclass(frozen=True)
class Products:
    """The mounts of one product, and the company behind each."""

    stack: Stack
    companies: dict[str, Company]
    url: str = ""

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


@contextmanager
def companies_of_all_modes(stack: Stack) -> Iterator[dict[str, Company]]:
    """Create a company for each mode, with the keys where a product finds them."""
    modes = [Mode.NEVER_ASK, Mode.ASK_ONCE, Mode.ASK_ALWAYS, Mode.OFF]
    companies = dict(zip(map(str, modes), stack.create_companies(*modes), strict=True))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODUCT_KEYS", json.dumps({mode: company.product_key for mode, company in companies.items()}))
        yield companies


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


def tell_truthfully(products: Products, mode: str, tasks: list[Task]) -> None:
    """Do tasks as one customer's agent, and send what came of them, after an approval where the mode asks for one."""
    customer = f"customer_{uuid.uuid4().hex}"
    sent: list[tuple[str, str, str]] = []
    for task in tasks:
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


def decline(products: Products, mode: str, task: Task) -> None:
    """Use the product as a customer who declines: nothing may be sent, and nothing is stored."""
    before = products.stored(mode)
    received = receive(products, products.get(mode, task.path, f"customer_{uuid.uuid4().hex}"))
    received.decide("declined")
    with pytest.raises(ValueError, match="nothing may be submitted in the state feedback_disabled"):
        received.submit_outcome("success", "The answer had what was asked for.")
    assert products.stored(mode) == before
