"""Context requests of a product's code, and the signed interaction ids by which an agent's retry is recognised."""

import hmac
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from agent_feedback.interaction_id import format_uuid, time_ordered_bytes
from agent_feedback.keys import CompanyKey
from agent_feedback.operation import normalize_operation
from agent_feedback.request import Caller, Request

INTERACTION_KEY = "agent_feedback.context_interaction"
"""The key of the WSGI environment, or of the ASGI scope, that holds the interaction which the request retries."""
HEADER = "Service-Context-Interaction"
ADVERTISING = "targeted_advertising"

privacy_signal: ContextVar[bool] = ContextVar("agent_feedback.privacy_signal", default=False)
"""Whether the request that is being answered carries the privacy signal."""

_PRIVACY_SIGNAL = "sec-gpc"
_PRIVACY_VALUE = "1"

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

    It lies in the WSGI environment, or in the ASGI scope, before the application runs: a framework may copy them, and
    what is written into the copy would not be seen here.
    """

    __slots__ = ("context_request", "mount")

    KEY = "agent_feedback.context"

    def __init__(self, mount: str = "") -> None:
        self.context_request: ContextRequest | None = None
        self.mount = mount


def add_slot(request: Request, key: CompanyKey) -> ContextSlot:
    """Put a slot into a request's source, and the interaction that it retries if it carries a valid one."""
    source = request.source
    # A framework may change its path while it runs.
    slot = source[ContextSlot.KEY] = ContextSlot(request.mount)
    source.pop(INTERACTION_KEY, None)
    interaction_id = request.header(HEADER.lower())
    if interaction_id is not None and is_signed_interaction_id(interaction_id, key, route_of(request)):
        source[INTERACTION_KEY] = interaction_id.lower()
    return slot


def read_privacy_signal(caller: Caller) -> None:
    """Set `privacy_signal` for what follows in this thread or task."""
    privacy_signal.set(caller.header(_PRIVACY_SIGNAL) == _PRIVACY_VALUE)


def route_of(request: Request) -> str:
    """Return the method and the operation of a request, which its interaction id signs."""
    return f"{request.method} {normalize_operation(request.path)}"


def fill_slot(source: Mapping[str, Any], context_request: ContextRequest) -> None:
    """Store a context request, unless it may not be made.

    That is so if it is anonymous and this HTTP request retries one that requested context, or if it is for advertising
    and the user objects.
    """
    slot = source.get(ContextSlot.KEY)
    if isinstance(slot, ContextSlot) and (context_request.customer or INTERACTION_KEY not in source):
        slot.context_request = None if is_objected_to(context_request.purpose) else context_request


def retried_interaction(source: Mapping[str, Any]) -> str | None:
    """Return the interaction that this request retries."""
    interaction_id = source.get(INTERACTION_KEY)
    return interaction_id if isinstance(interaction_id, str) else None


def is_objected_to(purpose: str) -> bool:
    """Tell whether the user of the current request objects to a purpose, by `Sec-GPC: 1`."""
    return purpose == ADVERTISING and privacy_signal.get()


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
