"""The call of a business tool that is running, for code that requests customer context."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agent_feedback.context.interaction import ContextSlot, read_privacy_signal
from agent_feedback.request import Caller

_current_call: ContextVar[Mapping[str, Any] | None] = ContextVar("agent_feedback_mcp_call", default=None)


def current_call() -> Mapping[str, Any]:
    """Return what stands for the request in `customer_context.ask` and `interaction`; empty outside of a tool.

    feedback.customer_context.ask(current_call(), purpose="product_personalization", customer=customer)
    """
    return _current_call.get() or {}


@contextmanager
def open_call(caller: Caller) -> Iterator[ContextSlot]:
    """Make a slot for the context request of the tool that runs in this block.

    A tool in a thread gets a copy of the context variables, and so the same slot.
    """
    slot = ContextSlot()
    read_privacy_signal(caller)
    token = _current_call.set({ContextSlot.KEY: slot})
    try:
        yield slot
    finally:
        _current_call.reset(token)
