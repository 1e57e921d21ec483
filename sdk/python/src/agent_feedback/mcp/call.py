"""The call of a business tool that is running, for code that requests customer context."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from agent_feedback.context_interaction import ContextSlot

_PRIVACY_SIGNAL = "HTTP_SEC_GPC"

_current_call: ContextVar[Mapping[str, Any] | None] = ContextVar("agent_feedback_mcp_call", default=None)


def current_call() -> Mapping[str, Any]:
    """Return what stands for the request in `customer_context.ask` and `interaction`; empty outside of a tool.

    feedback.customer_context.ask(current_call(), purpose="product_personalization", customer=customer)
    """
    return _current_call.get() or {}


@contextmanager
def open_call(request: Any) -> Iterator[ContextSlot]:
    """Make a slot for the context request of the tool that runs in this block; `request` is its HTTP request, if any.

    A tool in a thread gets a copy of the context variables, and so the same slot.
    """
    slot = ContextSlot()
    headers = getattr(request, "headers", None)
    signal = headers.get("sec-gpc") if headers is not None else None
    token = _current_call.set({ContextSlot.KEY: slot, **({_PRIVACY_SIGNAL: signal} if signal else {})})
    try:
        yield slot
    finally:
        _current_call.reset(token)
