"""What a response asks of the agent: the product's wish, and the interaction that it belongs to."""

import hmac
import os
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent_feedback.company_key import CompanyKey
from agent_feedback.operation import normalize_operation

INTERACTION = "agent_feedback.context_interaction"
HEADER = "Service-Context-Interaction"

_CGI_HEADER = "HTTP_SERVICE_CONTEXT_INTERACTION"
_UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z", re.IGNORECASE)
_SIGNED_BYTES = 10


@dataclass(frozen=True)
class Ask:
    """What a product wants to ask during one request."""

    purpose: str
    remember: bool = False
    user_ref: str | None = None
    account_ref: str | None = None
    anonymous_ref: str | None = None
    field_keys: Sequence[str] | None = None
    operation: str | None = None

    @property
    def is_ephemeral(self) -> bool:
        """Whether nobody is named: then only this interaction knows the answer."""
        return not (self.user_ref or self.account_ref or self.anonymous_ref)


class Place:
    """Where a request's wish is left; frameworks may copy the environment around it, and change what is in it."""

    __slots__ = ("ask", "method", "script_name")

    NAME = "agent_feedback.context"

    def __init__(self, method: str = "", script_name: str = "") -> None:
        self.ask: Ask | None = None
        self.method, self.script_name = method, script_name


def prepare(environ: dict[str, Any], key: CompanyKey, path: str) -> Place:
    """Make room for a wish, and name the interaction that this request repeats, if it does."""
    place = environ[Place.NAME] = Place(environ.get("REQUEST_METHOD", ""), environ.get("SCRIPT_NAME", ""))
    environ.pop(INTERACTION, None)
    told = environ.get(_CGI_HEADER)
    if told is not None and is_bound(told, key, route(place, path)):
        environ[INTERACTION] = told.lower()
    return place


def route(place: Place, path: str) -> str:
    """Return what an interaction is bound to: the method and the operation of its request."""
    return f"{place.method} {normalize_operation(path)}"


def mark(environ: Mapping[str, Any], ask: Ask) -> None:
    """Leave a wish; an interaction whose question was just answered is not asked again."""
    place = environ.get(Place.NAME)
    if isinstance(place, Place) and not (ask.is_ephemeral and INTERACTION in environ):
        place.ask = ask


def interaction_of(environ: Mapping[str, Any]) -> str | None:
    """Return the interaction that this request repeats."""
    found = environ.get(INTERACTION)
    return found if isinstance(found, str) else None


def bound_interaction(key: CompanyKey, bound_to: str) -> str:
    """Return a new interaction id, a random UUID but for its last six bytes: those sign the rest and the route.

    So every process of a company can tell without a store that a repeated request belongs to the same operation.
    """
    first = bytearray(os.urandom(_SIGNED_BYTES))
    first[6] = first[6] & 0x0F | 0x40
    first[8] = first[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(first) + _signature(key, bytes(first), bound_to)))


def is_bound(text: str, key: CompanyKey, bound_to: str) -> bool:
    """Tell whether an interaction id was made for this route, with this key."""
    if not _UUID_4.match(text):
        return False
    told = uuid.UUID(text).bytes
    first, last = told[:_SIGNED_BYTES], told[_SIGNED_BYTES:]
    return hmac.compare_digest(last, _signature(key, first, bound_to))


def _signature(key: CompanyKey, first: bytes, bound_to: str) -> bytes:
    return key.sign(first + bound_to.encode())[: 16 - _SIGNED_BYTES]
