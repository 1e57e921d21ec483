"""Context requests of a product's code, and the signed interaction ids by which an agent's retry is recognised."""

import hmac
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_feedback.interaction_id import time_ordered_bytes
from agent_feedback.keys import CompanyKey
from agent_feedback.operation import normalize_operation

INTERACTION_KEY = "agent_feedback.context_interaction"
"""The key of the WSGI environment that holds the interaction which the request retries."""
HEADER = "Service-Context-Interaction"

_CGI_HEADER = "HTTP_SERVICE_CONTEXT_INTERACTION"
_UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SIGNED_BYTES = 10


@dataclass(frozen=True)
class ContextRequest:
    """A request for customer context that a product's code adds to its response."""

    purpose: str
    remember: bool = False
    user_ref: str | None = None
    account_ref: str | None = None
    anonymous_ref: str | None = None
    field_keys: Sequence[str] | None = None
    operation: str | None = None

    @property
    def is_ephemeral(self) -> bool:
        """Whether no customer is named: the answer then belongs to this interaction alone."""
        return not (self.user_ref or self.account_ref or self.anonymous_ref)


class ContextSlot:
    """Holds the context request of one HTTP request.

    It lies in the WSGI environment before the application runs: a framework may copy the environment, and what is
    written into the copy would not be seen here.
    """

    __slots__ = ("context_request", "method", "script_name")

    KEY = "agent_feedback.context"

    def __init__(self, method: str = "", script_name: str = "") -> None:
        self.context_request: ContextRequest | None = None
        self.method, self.script_name = method, script_name


def add_slot(environ: dict[str, Any], key: CompanyKey, path: str) -> ContextSlot:
    """Put a slot into the environment, and the interaction that the request retries if it carries a valid one."""
    slot = environ[ContextSlot.KEY] = ContextSlot(environ.get("REQUEST_METHOD", ""), environ.get("SCRIPT_NAME", ""))
    environ.pop(INTERACTION_KEY, None)
    interaction_id = environ.get(_CGI_HEADER)
    if interaction_id is not None and is_signed_interaction_id(interaction_id, key, route_of(slot, path)):
        environ[INTERACTION_KEY] = interaction_id.lower()
    return slot


def route_of(slot: ContextSlot, path: str) -> str:
    """Return the method and the operation of a request, which its interaction id signs."""
    return f"{slot.method} {normalize_operation(path)}"


def fill_slot(environ: Mapping[str, Any], context_request: ContextRequest) -> None:
    """Store a context request, unless this HTTP request is the retry after an answer to the same."""
    slot = environ.get(ContextSlot.KEY)
    if isinstance(slot, ContextSlot) and not (context_request.is_ephemeral and INTERACTION_KEY in environ):
        slot.context_request = context_request


def retried_interaction(environ: Mapping[str, Any]) -> str | None:
    """Return the interaction that this request retries."""
    interaction_id = environ.get(INTERACTION_KEY)
    return interaction_id if isinstance(interaction_id, str) else None


def signed_interaction_id(key: CompanyKey, route: str) -> str:
    """Return a new interaction id whose last six bytes sign the others and the route.

    So every process of a company recognises the retry of the same operation without a store.
    """
    head = time_ordered_bytes(_SIGNED_BYTES)
    return str(uuid.UUID(bytes=head + _signature(key, head, route)))


def is_signed_interaction_id(text: str, key: CompanyKey, route: str) -> bool:
    """Tell whether an interaction id was made with this key for this route."""
    if not _UUID_4.match(text):
        return False
    raw = uuid.UUID(text).bytes
    head, signature = raw[:_SIGNED_BYTES], raw[_SIGNED_BYTES:]
    return hmac.compare_digest(signature, _signature(key, head, route))


def _signature(key: CompanyKey, head: bytes, route: str) -> bytes:
    return key.sign(head + route.encode())[: 16 - _SIGNED_BYTES]
