"""The `never_ask` envelope stays under 2,048 bytes with an endpoint of 60 characters."""

import json
import time
import uuid
from typing import Any

from agent_feedback import AgentFeedback
from agent_feedback.capability import mint
from agent_feedback.keys import ProductKey

from app.consent import contract

ENDPOINT = "https://" + "f" * 52
KEY = f"af_live_{'1' * 32}_{'2' * 32}_{'s' * 43}"
BUDGET = 2048


def size(envelope: dict[str, Any]) -> int:
    return len(json.dumps(envelope, separators=(",", ":")).encode())


def test_the_endpoint_has_60_characters() -> None:
    assert len(ENDPOINT) == 60


def test_the_envelope_of_the_sdk_keeps_to_the_budget() -> None:
    assert size(AgentFeedback(KEY, endpoint=ENDPOINT).start("/orders").envelope()) < BUDGET


def test_the_contract_of_the_service_keeps_to_the_budget() -> None:
    issued_at = int(time.time())
    token = mint(ProductKey(KEY), str(uuid.uuid4()), issued_at)
    assert size(contract.feedback_ready(ENDPOINT, token, issued_at + 7200)) < BUDGET
