"""The example of the package's README for agents runs as it stands there."""

import re
from pathlib import Path
from typing import Any

import agent_feedback
import pytest
from agent_feedback.envelope import EnvelopeContext, build

from tests.sdk.cli_product import paths, reply_with, serving_product
from tests.sdk.endpoint import Endpoint

README = Path(agent_feedback.__file__).resolve().parents[2] / "README.md"
REQUIRED = {"state": "consent_required", "canonicalQuestion": "May I?"}


def run_example(product: str, service: str, answer: str) -> Any:
    code = re.search(r"<!-- runs in tests/sdk/test_agent_readme.py -->\n```python\n(.*?)```", README.read_text(), re.S)
    assert code
    text = (
        code[1].replace("https://product.example.com/orders", product).replace("https://feedback.example.com", service)
    )
    names: dict[str, Any] = {"input": lambda question: answer if question == "May I?" else ""}
    exec(text, names)
    return names["received"]


def test_without_a_question_review_and_report_are_sent(endpoint: Endpoint) -> None:
    reply_with(endpoint, {"accepted": True}, {"accepted": True})
    with serving_product(endpoint) as product:
        run_example(product, endpoint.url, "")
    assert paths(endpoint) == ["outcomes", "reports"]


@pytest.mark.parametrize("answer", ["no", "", "perhaps"])
def test_without_a_yes_nothing_is_sent(endpoint: Endpoint, answer: str) -> None:
    reply_with(endpoint, REQUIRED)
    with serving_product(endpoint, mode="ask_always") as product:
        run_example(product, endpoint.url, answer)
    assert paths(endpoint) == ["capabilities/introspect"]


def test_after_a_yes_the_approval_goes_first(endpoint: Endpoint) -> None:
    ready = build(EnvelopeContext(endpoint.url, "afr2_x", 2_000_000_000, "never_ask"))
    approval = {"state": "feedback_ready", "feedback": ready}
    reply_with(endpoint, REQUIRED, REQUIRED, approval, {"accepted": True}, {"accepted": True})
    with serving_product(endpoint, mode="ask_always") as product:
        received = run_example(product, endpoint.url, "Yes")
    assert received.state == "feedback_ready"
    sent_paths = ["capabilities/introspect", "capabilities/introspect", "consent/decisions", "outcomes", "reports"]
    assert paths(endpoint) == sent_paths
