"""Decide what becomes of each response of the product; the adapters read requests and write responses by it."""

import json
import logging
import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple
from urllib.parse import quote

from agent_feedback import delivery, protocol_files
from agent_feedback.callbacks import Callbacks
from agent_feedback.context.action import ContextActions, PendingAction, ResponseInfo
from agent_feedback.context.client import CustomerContext
from agent_feedback.context.interaction import ContextSlot, read_privacy_signal
from agent_feedback.delivery import Shape
from agent_feedback.eligibility import PathRules, index_headers, is_eligible, kind_of
from agent_feedback.envelope import ENVELOPE
from agent_feedback.interaction import Interaction, Services
from agent_feedback.relay import Relay
from agent_feedback.request import Request

logger = logging.getLogger("agent_feedback")

Headers = list[tuple[str, str]]

_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")["headers"]
_REQUEST_HEADER: str = _CONTRACT["request"]
_REQUEST_HEADER_KEY = _REQUEST_HEADER.lower()
_REQUEST_VALUE: str = _CONTRACT["requestValue"]
_VARY = ("Vary", _REQUEST_HEADER)
# What would end the target or the header; some servers pass on a request line that holds it.
_UNSAFE_IN_LINK = re.compile(r'[\x00-\x20<>"\x7f]')

_BYTE_HEADERS = frozenset({"etag", "digest", "content-digest", "repr-digest", "content-md5", "accept-ranges"})
"""Headers that describe the bytes of the original body."""
_CACHE_HEADERS = frozenset({"cache-control", "cdn-cache-control", "surrogate-control", "expires"})
_REPLACED_HEADERS = _BYTE_HEADERS | _CACHE_HEADERS | {"content-length"}
PRIVATE = ("Cache-Control", "private, no-store")


class ResponseHead(NamedTuple):
    """The start of an eligible response."""

    status_code: int
    headers: Headers
    """Those of the product, and in the cache mode `request` those that every eligible response gets."""
    kind: str
    """`json` or `html`."""
    length: int | None
    """The declared length of the body."""
    carries_envelope: bool
    is_modifiable: bool = True
    """Whether the body may be read and replaced, beside the headers."""


class ModifiedResponse(NamedTuple):
    """What a response becomes: all of its headers, and its body if that is another one."""

    headers: Headers
    body: bytes | None
    record: Callable[[], None]
    """Records the interaction; for the adapter to call where the response does become that."""


class Instrumentation:
    """The rules of one wrapped application."""

    def __init__(self, services: Services, callbacks: Callbacks, customer_context: CustomerContext) -> None:
        self._services, self._callbacks, self._options = services, callbacks, services.options
        self.max_body_bytes: int = self._options.max_body_bytes
        self.context_timeout_s: float = self._options.context_timeout
        self._paths = PathRules(self._options.include, self._options.exclude)
        self._link = ("Link", _CONTRACT["discoveryLink"].replace("{endpoint}", self._options.endpoint))
        self._is_by_request = self._options.cache_mode == "request"
        key = self._options.company_key
        self._actions = ContextActions(customer_context, key) if key else None
        self.relay = Relay(self._options.endpoint, self._options.relay_timeout) if key else None
        self._warned: set[str] = set()

    def flush(self) -> None:
        """Send the queued telemetry, within the option `shutdown_timeout`."""
        self._services.telemetry.flush()

    def covers(self, request: Request) -> bool:
        """Tell whether the response to this request may be of interest at all, and read its privacy signal."""
        if self._actions:  # the product's code may retrieve context for any request
            read_privacy_signal(request)
        # The headers of a HEAD response describe a body that is not sent.
        return (request.method != "HEAD" or self._is_by_request) and self._paths.covers(request.path)

    def open_slot(self, request: Request) -> ContextSlot | None:
        """Let the product's code request context; None without a company key."""
        try:
            return self._actions.add_slot(request) if self._actions else None
        except Exception as error:
            self._warn(type(error).__name__)
            return None

    def read_head(
        self, request: Request, slot: ContextSlot | None, status_code: int, headers: Headers
    ) -> ResponseHead | None:
        """Return the start of a response that may be changed, or None for one that passes untouched."""
        try:
            return self._read_head(request, slot, status_code, headers)
        except Exception as error:  # in a callback of the company, or a start that is for the server to refuse
            self._warn(type(error).__name__)
            return None

    def _read_head(
        self, request: Request, slot: ContextSlot | None, status_code: int, headers: Headers
    ) -> ResponseHead | None:
        index = index_headers(headers)
        kind = kind_of(index)
        has_context_request = slot is not None and slot.context_request is not None
        if kind is None or not (has_context_request or self._options.mode != "off"):
            return None
        if not is_eligible(status_code, index, self._options.cache_mode):
            return None
        carries_envelope = self._options.mode != "off" and self._callbacks.should_instrument(request)
        if self._is_by_request and self._options.mode != "off":
            is_requested = request.header(_REQUEST_HEADER_KEY) == _REQUEST_VALUE and request.method != "HEAD"
            headers = [*headers, *_request_headers(request, index, may_link=carries_envelope and not is_requested)]
            carries_envelope = carries_envelope and is_requested
        length = index.get("content-length")
        return ResponseHead(
            status_code,
            headers,
            kind,
            None if length is None else int(length),
            carries_envelope,
            is_modifiable=request.method != "HEAD" and (carries_envelope or has_context_request),
        )

    def is_bounded(self, head: ResponseHead, *, is_complete: bool) -> bool:
        """Tell whether a body is complete already, or declares a length within the limit."""
        return is_complete if head.length is None else head.length <= self._options.max_body_bytes

    def modify(
        self, request: Request, slot: ContextSlot | None, head: ResponseHead, body: bytes, duration_ms: float
    ) -> ModifiedResponse | None:
        """Return what a response becomes; None leaves it as the product made it."""
        if len(body) > self._options.max_body_bytes or head.length not in (None, len(body)):
            return None
        try:
            shape = delivery.read_shape(head.kind, body)
            return None if shape is None else self._add(request, slot, head, shape, duration_ms)
        except Exception as error:  # in a callback of the company, or in this package
            self._warn(type(error).__name__)
            return None

    def _add(
        self, request: Request, slot: ContextSlot | None, head: ResponseHead, shape: Shape, duration_ms: float
    ) -> ModifiedResponse | None:
        operation = self._callbacks.operation(request)
        pending = self._actions.find_pending(slot, request, operation) if self._actions and slot else None
        references = self._callbacks.references(request)
        interaction_id = pending.interaction_id if pending else None
        interaction = Interaction(self._services, operation, references, interaction_id=interaction_id)
        interaction.occurred_at -= duration_ms / 1000
        members: dict[str, str] = {}
        headers: Headers = []
        has_envelope = head.carries_envelope and (shape.has_room(ENVELOPE) or shape.falls_back_to_header)
        if has_envelope and shape.has_room(ENVELOPE):
            members[ENVELOPE], interaction.surface = interaction.encode_envelope(), shape.surface
        elif has_envelope:
            value = delivery.header_value(interaction.encode_envelope())
            has_envelope, interaction.surface = value is not None, delivery.HEADER_SURFACE
            headers += [(delivery.HEADER, value)] if value else []
        if pending and shape.has_room(delivery.SERVICE):
            info = ResponseInfo(request, operation, _SURFACES[head.kind], head.status_code, duration_ms, references)
            if action := self._build_action(info, pending):
                members[delivery.SERVICE] = json.dumps(action, separators=(",", ":"))
                # Once the service has accepted the product's own name for it.
                interaction.operation = pending.operation
                headers += pending.headers
        if has_envelope:
            headers.append(self._link)
        if not headers and not members:
            return None
        body = shape.add(members) if members else None
        finish = partial(interaction.finish, status_code=head.status_code, duration_ms=duration_ms)
        return ModifiedResponse(self._headers(head, headers, body), body, finish if has_envelope else _record_nothing)

    @staticmethod
    def _headers(head: ResponseHead, added_headers: Headers, body: bytes | None) -> Headers:
        """Return headers that are right for the body."""
        replaced = _CACHE_HEADERS if body is None else _REPLACED_HEADERS
        headers = [(name, value) for name, value in head.headers if name.lower() not in replaced]
        if body is not None:
            headers.append(("Content-Length", str(len(body))))
        return [*headers, PRIVATE, *added_headers]

    def _build_action(self, info: ResponseInfo, pending: PendingAction) -> dict[str, Any] | None:
        try:
            return self._actions.build(pending, info) if self._actions else None
        except Exception as error:  # an unusable answer of the service; the envelope leaves all the same
            self._warn(type(error).__name__)
            return None

    def _warn(self, kind: str) -> None:
        """Warn once of each kind: there may be thousands of responses a second."""
        if kind not in self._warned:
            self._warned.add(kind)
            logger.warning("something was not added (%s); the rest of the response is as the product made it", kind)


def _record_nothing() -> None:
    """Record nothing: without an envelope there is no interaction."""


_SURFACES = {"json": "http_json", "html": "html"}
"""The surfaces of enrichment requests."""


def _request_headers(request: Request, index: dict[str, str], *, may_link: bool) -> Headers:
    """Return the headers that an eligible response gets in the cache mode `request`."""
    varies = {name.strip().lower() for name in index.get("vary", "").split(",")}
    headers = [] if varies & {"*", _REQUEST_HEADER_KEY} else [_VARY]
    # Two slashes at the beginning would name another host.
    if may_link and request.method in ("GET", "HEAD") and not request.target.startswith("//"):
        target = _UNSAFE_IN_LINK.sub(lambda match: quote(match[0], safe=""), request.target)
        headers.append(("Link", _CONTRACT["requestLink"].replace("{target}", target)))
    return headers


def make_private(headers: Headers) -> Headers:
    """Return the headers of a response that is made from one customer's context, which caches must not keep."""
    return [*((name, value) for name, value in headers if name.lower() not in _CACHE_HEADERS), PRIVATE]
