"""Context requests of a product's code, and the signed interaction ids by which an agent's retry is recognised."""

import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agent_feedback.interaction_id import format_uuid, time_ordered_bytes
from agent_feedback.keys import CompanyKey
from agent_feedback.operation import normalize_operation

INTERACTION_KEY = "agent_feedback.context_interaction"
"""The key of the WSGI environment that holds the interaction which the request retries."""
HEADER = "Service-Context-Interaction"

_CGI_HEADER = "HTTP_SERVICE_CONTEXT_INTERACTION"
_UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SIGNED_BYTES = 10


class CustomerReferences(NamedTuple):
    """A customer, by opaque ids of the company's own; without any, only one interaction is meant."""

    user_ref: str | None = None
    account_ref: str | None = None
    anonymous_ref: str | None = None

    def __bool__(self) -> bool:
        return bool(self.user_ref or self.account_ref or self.anonymous_ref)

    def as_members(self) -> dict[str, str | None]:
        """Return the members of a body."""
        return {"userRef": self.user_ref, "accountRef": self.account_ref, "anonymousRef": self.anonymous_ref}


NO_CUSTOMER = CustomerReferences()


class ContextRequest(NamedTuple):
    """A request for customer context: for which purpose, about whom, and which fields of the catalog."""

    purpose: str
    remember: bool = False
    customer: CustomerReferences = NO_CUSTOMER
    field_keys: Sequence[str] | None = None
    operation: str | None = None
    """By default that of the HTTP request."""

    def as_members(self) -> dict[str, Any]:
        """Return the members of an enrichment request."""
        return {
            "operation": self.operation,
            "purpose": self.purpose,
            "remember": self.remember,
            **self.customer.as_members(),
            "fieldKeys": None if self.field_keys is None else list(self.field_keys),
        }


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
    """Store a context request, unless it is anonymous and this HTTP request retries one that requested context."""
    slot = environ.get(ContextSlot.KEY)
    if isinstance(slot, ContextSlot) and (context_request.customer or INTERACTION_KEY not in environ):
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
    return format_uuid(head + _signature(key, head, route))


def is_signed_interaction_id(text: str, key: CompanyKey, route: str) -> bool:
    """Tell whether an interaction id was made with this key for this route."""
    if not _UUID_4.match(text):
        return False
    raw = bytes.fromhex(text.replace("-", ""))
    head, signature = raw[:_SIGNED_BYTES], raw[_SIGNED_BYTES:]
    return hmac.compare_digest(signature, _signature(key, head, route))


def _signature(key: CompanyKey, head: bytes, route: str) -> bytes:
    return key.sign(head + route.encode())[: 16 - _SIGNED_BYTES]
