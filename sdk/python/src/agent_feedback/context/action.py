"""Build the action that a response carries for the agent from the context request of the product's code."""

from collections.abc import Mapping
from typing import NamedTuple

from agent_feedback.context.calls import JsonObject
from agent_feedback.context.client import CustomerContext, Observation
from agent_feedback.context.interaction import (
    HEADER,
    ContextRequest,
    ContextSlot,
    add_slot,
    route_of,
    signed_interaction_id,
)
from agent_feedback.context.observation import observe
from agent_feedback.interaction_id import new_interaction_id
from agent_feedback.keys import CompanyKey
from agent_feedback.relay import rewrite_urls
from agent_feedback.request import Request

MEMBER = "customerContext"


class ResponseInfo(NamedTuple):
    """The response that is about to be sent, and the request that it answers."""

    request: Request
    operation: str
    surface: str
    status_code: int
    duration_ms: float
    references: Mapping[str, str]
    """What the company's callbacks returned for the request, by telemetry's names."""


class PendingAction(NamedTuple):
    """A context request with the interaction that it belongs to."""

    context_request: ContextRequest
    interaction_id: str
    operation: str
    mount: str
    """The path under which the host application is mounted."""
    headers: list[tuple[str, str]]
    """The headers of a response that carries the action."""


class ContextActions:
    """Requests actions from the service for the responses of one adapter."""

    def __init__(self, customer_context: CustomerContext, key: CompanyKey) -> None:
        self._context, self._key = customer_context, key

    def add_slot(self, request: Request) -> ContextSlot:
        """Put the slot for a context request into what the framework has of a request."""
        return add_slot(request, self._key)

    def find_pending(self, slot: ContextSlot, request: Request, operation: str) -> PendingAction | None:
        """Return the action that the product's code has requested, if any; by default for the request's operation."""
        context_request = slot.context_request
        if context_request is None:
            return None
        operation, mount = context_request.operation or operation, slot.mount
        if context_request.customer:
            return PendingAction(context_request, new_interaction_id(), operation, mount, [])
        interaction_id = signed_interaction_id(self._key, route_of(request))
        return PendingAction(context_request, interaction_id, operation, mount, [(HEADER, interaction_id)])

    def build(self, pending: PendingAction, response: ResponseInfo) -> JsonObject | None:
        """Return the action with URLs on the company's origin; None if nothing may be asked of the agent."""
        content = self._context.request_enrichment(
            pending.context_request._replace(operation=pending.operation),
            interaction_id=pending.interaction_id,
            surface=response.surface,
            observation=Observation(
                response.status_code,
                response.duration_ms,
                response.references.get("sessionRef"),
                response.references.get("runtimeHint"),
                observe(response.request),
            ),
        )
        if not content:
            return None
        action = rewrite_urls(content, pending.mount)
        is_usable = isinstance(action, dict) and (action.get("submit") or action.get("consent"))
        return {MEMBER: action} if is_usable else None
