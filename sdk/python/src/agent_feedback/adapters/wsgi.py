"""The WSGI adapter: adds the envelope and the context action to eligible responses, and passes all others unchanged.

Whatever fails in here, the product's response leaves as the product made it.
"""

import json
import logging
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_feedback import context_action, html_insert, protocol_files
from agent_feedback.adapters.wsgi_response import BufferedBody, BufferedResponse, Headers, close_body
from agent_feedback.context_action import ContextActions, PendingAction, ResponseInfo
from agent_feedback.context_interaction import INTERACTION_KEY, ContextSlot
from agent_feedback.eligibility import PathRules
from agent_feedback.envelope import FIELD
from agent_feedback.json_splice import member_names, splice
from agent_feedback.relay import Relay

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback, Interaction

logger = logging.getLogger("agent_feedback")

_BYTE_HEADERS = frozenset(
    {"content-length", "etag", "digest", "content-digest", "repr-digest", "content-md5", "accept-ranges"}
)
"""Headers that describe the bytes of the original body."""
_CACHE_HEADERS = frozenset({"cache-control", "cdn-cache-control", "surrogate-control", "expires"})
_REPLACED_HEADERS = _BYTE_HEADERS | _CACHE_HEADERS
_PRIVATE = ("Cache-Control", "private, no-store")


class ModifiedResponse(NamedTuple):
    """The new body of a response, and the headers to add."""

    body: bytes
    headers: Headers


class WsgiAdapter:
    """A WSGI application around the product's."""

    def __init__(self, app: Callable[..., Any], client: "AgentFeedback") -> None:
        self._app, self._client = app, client
        options = client.options
        self._paths = PathRules(options.include, options.exclude)
        discovery = options.endpoint + protocol_files.read("contract.json")["paths"]["discovery"]
        self._link = ("Link", f'<{discovery}>; rel="agent-feedback"; type="application/json"')
        self._actions = ContextActions(client, options.company_key) if options.company_key else None
        self._relay = Relay(options.endpoint, options.relay_timeout) if options.company_key else None
        self._warned: set[str] = set()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        if self._relay is not None and self._relay.serves(environ):
            return self._relay(environ, start_response)
        path = _request_path(environ)
        # The headers of a HEAD response describe a body that is not sent.
        if environ.get("REQUEST_METHOD") == "HEAD" or not self._paths.covers(path):
            return self._app(environ, start_response)  # type: ignore[no-any-return]  # the product's app is untyped
        return self._run(environ, start_response, path)

    def _run(self, environ: dict[str, Any], start_response: Callable[..., Any], path: str) -> Iterable[bytes]:
        """Run the product and buffer its response as far as it is eligible."""
        slot = self._add_slot(environ, path)
        if INTERACTION_KEY in environ:
            start_response = _make_private(start_response)
        started_at, response = time.perf_counter(), BufferedResponse(start_response, self._client.options, slot)
        chunks = self._app(environ, response)
        if not response.is_eligible or not response.is_bounded(chunks):
            response.start()
            return chunks  # type: ignore[no-any-return]  # the product's app is untyped
        try:
            body = BufferedBody(chunks, self._client.options.max_body_bytes)
            duration_ms = (time.perf_counter() - started_at) * 1000
            if response.is_eligible:  # while its body was read it may have written, or started over
                self._finish(environ, body, response, path, duration_ms)
        except BaseException:
            close_body(chunks)
            raise
        return body if body.replaces_source else chunks

    def _add_slot(self, environ: dict[str, Any], path: str) -> ContextSlot | None:
        try:
            return self._actions.add_slot(environ, path) if self._actions else None
        except Exception as error:
            self._warn(type(error).__name__)
            return None

    def _finish(
        self, environ: dict[str, Any], body: BufferedBody, response: BufferedResponse, path: str, duration_ms: float
    ) -> None:
        """Start the response, modified if it can be."""
        try:
            modified_response = self._modify(environ, body, response, path, duration_ms)
        except Exception as error:  # in a callback of the company, or in this package
            self._warn(type(error).__name__)
            modified_response = None
        if modified_response is None:
            response.start()
            return
        headers = [(name, value) for name, value in response.headers if name.lower() not in _REPLACED_HEADERS]
        headers += [("Content-Length", str(len(modified_response.body))), _PRIVATE]
        response.start(headers + modified_response.headers)
        body.replace(modified_response.body)

    def _modify(
        self, environ: dict[str, Any], body: BufferedBody, response: BufferedResponse, path: str, duration_ms: float
    ) -> ModifiedResponse | None:
        """Return what the response becomes; None leaves it unchanged."""
        text = body.read()
        if text is None or response.length not in (None, len(text)):
            return None
        operation = self._client.operation(environ, path)
        pending = (
            self._actions.find_pending(response.slot, path, operation) if self._actions and response.slot else None
        )
        interaction = self._client.start_interaction(pending.interaction_id if pending else None)
        references = self._client.references(environ, user_agent=environ.get("HTTP_USER_AGENT"))
        info = ResponseInfo(
            environ, operation, response.surface, response.status_code, round(duration_ms, 3), references
        )
        if response.surface == "html":
            return pending and self._modify_html(text, info, pending)
        return self._modify_json(text, info, pending, interaction)

    def _modify_html(self, text: bytes, info: ResponseInfo, pending: PendingAction) -> ModifiedResponse | None:
        offset = html_insert.find_insertion_point(text, context_action.ELEMENT_ID)
        action = None if offset is None else self._build_action(info, pending)
        if offset is None or action is None:
            return None
        return ModifiedResponse(
            html_insert.insert_script(text, offset, context_action.ELEMENT_ID, action), pending.headers
        )

    def _modify_json(
        self, text: bytes, info: ResponseInfo, pending: PendingAction | None, interaction: "Interaction"
    ) -> ModifiedResponse | None:
        names = member_names(text)
        if names is None:
            return None
        members: dict[str, str] = {}
        headers: Headers = []
        if self._client.options.mode != "off" and FIELD not in names:
            members[FIELD] = interaction.encode_envelope(info.references.get("customerRef"))
            headers.append(self._link)
        action = self._build_action(info, pending) if pending and context_action.FIELD not in names else None
        if pending and action is not None:
            members[context_action.FIELD] = json.dumps(action, separators=(",", ":"))
            # Once the service has accepted the product's own name for it.
            info = info._replace(operation=pending.operation)
            headers += pending.headers
        if not members:
            return None
        body = splice(text, members)
        if FIELD in members:
            details = {"statusCode": info.status_code, "durationMs": info.duration_ms, **info.references}
            interaction.record("http_json", info.operation, **details)
        return ModifiedResponse(body, headers)

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


def _make_private(start_response: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `start_response` that keeps the response out of caches: it is made from one customer's context."""

    def start(status: str, headers: Headers, *exc_info: Any) -> Any:
        uncached = [(name, value) for name, value in headers if name.lower() not in _CACHE_HEADERS]
        return start_response(status, [*uncached, _PRIVATE], *exc_info)

    return start


def _request_path(environ: dict[str, Any]) -> str:
    """Return the path as text; WSGI holds its bytes as Latin-1."""
    path: str = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    return path.encode("latin-1", "replace").decode("utf-8", "replace")
