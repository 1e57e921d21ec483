"""The questions of the adapter's responses: from the product's wish to the action that the agent reads."""

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_feedback.asking import HEADER, Ask, Place, bound_interaction, prepare, route
from agent_feedback.company_key import CompanyKey
from agent_feedback.context_calls import Content
from agent_feedback.customer_context import Evidence
from agent_feedback.observation import observe
from agent_feedback.operation import normalize_operation
from agent_feedback.relay import mount_of, rewrite

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback

FIELD = "_service"
MEMBER = "customerContext"
ELEMENT = "agent-service-context"


class Passage(NamedTuple):
    """One response on its way out."""

    environ: Mapping[str, Any]
    path: str
    surface: str
    status_code: int
    duration_ms: float
    references: Mapping[str, str]
    """What the company's callbacks know of the request."""


class Asked(NamedTuple):
    """What one response asks, and the interaction in whose name it does."""

    ask: Ask
    interaction_id: str
    operation: str
    mount: str
    """The path under which the host application has the adapter."""
    headers: list[tuple[str, str]]
    """Those of a response that carries the question."""


class Questions:
    """Asks the service what may be asked of an agent."""

    def __init__(self, client: "AgentFeedback", key: CompanyKey) -> None:
        self._context, self._key = client.customer_context, key

    def prepare(self, environ: dict[str, Any], path: str) -> Place:
        """Make room for the product's wish."""
        return prepare(environ, self._key, path)

    def find(self, place: Place, path: str) -> Asked | None:
        """Return what the product wants to ask with its response, if anything."""
        ask = place.ask
        if ask is None:
            return None
        operation, mount = ask.operation or normalize_operation(path), mount_of(place.script_name)
        if not ask.is_ephemeral:
            return Asked(ask, str(uuid.uuid4()), operation, mount, [])
        interaction_id = bound_interaction(self._key, route(place, path))
        return Asked(ask, interaction_id, operation, mount, [(HEADER, interaction_id)])

    def action(self, asked: Asked, passage: Passage) -> Content | None:
        """Return what the agent may do now, over the company's origin; None if there is nothing to be asked."""
        ask = asked.ask
        found = self._context.request_enrichment(
            interaction_id=asked.interaction_id,
            operation=asked.operation,
            surface=passage.surface,
            purpose=ask.purpose,
            remember=ask.remember,
            user_ref=ask.user_ref,
            account_ref=ask.account_ref,
            anonymous_ref=ask.anonymous_ref,
            field_keys=ask.field_keys,
            evidence=Evidence(
                passage.status_code,
                passage.duration_ms,
                passage.references.get("sessionRef"),
                passage.references.get("runtimeHint"),
                observe(passage.environ),
            ),
        )
        if not found:
            return None
        action = rewrite(found, asked.mount)
        has_way = isinstance(action, dict) and (action.get("submit") or action.get("consent"))
        return {MEMBER: action} if has_way else None
