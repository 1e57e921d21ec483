"""What the products of all frameworks share: the client, what they answer, and signs between them and the tests."""

import json
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from agent_feedback import AgentFeedback

ORDERS = '{"orders": [1.50, 123456789012345678901234567890], "a": 1, "a": 2, "text": "\\u00e9"}'
PAGE = "<!doctype html><html><head><title>Orders</title></head><body>Two</body></html>"
CHUNKS = (b'{"first":', b" 1}")
PURPOSE = "product_personalization"
STEP_S = 0.005
TIMEOUT_S = 20


def folder() -> Path:
    """Return the folder in which signs lie."""
    return Path(os.environ["PRODUCT_FOLDER"])


def make_feedback() -> AgentFeedback:
    """Return the client; keys and address come from the environment."""
    return AgentFeedback(
        context_timeout=10.0,
        flush_interval=0.05,
        runtime_hint="user-agent",
        **json.loads(os.environ["PRODUCT_OPTIONS"]),
    )


def give_sign(name: str) -> None:
    """Tell the other side that something has happened."""
    (folder() / name).touch()


def has_sign(name: str) -> bool:
    """Tell whether something has happened."""
    return (folder() / name).exists()


def wait_for_sign(name: str) -> None:
    """Wait until something has happened, in a thread."""
    deadline = time.monotonic() + TIMEOUT_S
    while not has_sign(name) and time.monotonic() < deadline:
        time.sleep(STEP_S)


def stream(name: str) -> Iterator[bytes]:
    """Yield a chunk, and the next one only when the client has got the first."""
    yield CHUNKS[0]
    wait_for_sign(name)
    yield CHUNKS[1]


async def stream_async(name: str) -> AsyncIterator[bytes]:
    """Do the same in an event loop."""
    import asyncio  # noqa: PLC0415  # the products of WSGI need none

    yield CHUNKS[0]
    deadline = time.monotonic() + TIMEOUT_S
    while not has_sign(name) and time.monotonic() < deadline:
        await asyncio.sleep(STEP_S)
    yield CHUNKS[1]


def answer_context(feedback: AgentFeedback, request: Any) -> dict[str, Any]:
    """Ask the agent with the framework's own request, and tell whether it retries."""
    interaction_id = feedback.customer_context.interaction(request)
    feedback.customer_context.ask(request, purpose=PURPOSE, field_keys=["shopping.priority"])
    context = feedback.customer_context.context(purpose=PURPOSE, interaction_id=interaction_id)
    return {"interaction": interaction_id, "priority": context.value("shopping.priority")}
