"""The company's side: one object for each process that starts interactions and holds the queue, caches and clients."""

from collections.abc import Callable
from typing import Any, TypeVar

from agent_feedback.adapters.asgi import AsgiAdapter
from agent_feedback.adapters.wsgi import WsgiAdapter
from agent_feedback.callbacks import Callbacks
from agent_feedback.consent import ConsentCache
from agent_feedback.context.client import CustomerContext
from agent_feedback.instrumentation import Instrumentation
from agent_feedback.interaction import Interaction, Services
from agent_feedback.options import read_options
from agent_feedback.runtime_hint import clean_hint
from agent_feedback.telemetry.queue import TelemetryQueue

S = TypeVar("S")


class AgentFeedback:
    """The entry point of this package for a product; make one for each process.

    Options are named as in `agent_feedback.Options`; the key and the endpoint may also come from the environment
    (AGENT_FEEDBACK_KEY, AGENT_FEEDBACK_URL). With a company key (AGENT_FEEDBACK_COMPANY_KEY), `customer_context` can
    request context from agents.
    """

    def __init__(self, api_key: str | None = None, *, endpoint: str | None = None, **settings: Any) -> None:
        self.options = read_options(api_key, endpoint, settings)
        self.telemetry = TelemetryQueue(self.options)
        self.consent = ConsentCache(self.options)
        self.customer_context = CustomerContext.from_options(self.options)
        self.callbacks = Callbacks(self.options)
        self._services = Services(self.options, self.consent, self.telemetry)

    def wsgi(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a WSGI application: eligible responses carry an envelope, and the context action that it requests."""
        return WsgiAdapter(app, self._instrumentation()) if self._has_work() else app

    def asgi(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap an ASGI application, as `wsgi` does."""
        return AsgiAdapter(app, self._instrumentation()) if self._has_work() else app

    def mcp(self, server: S) -> S:
        """Wrap the tools of an MCP server of the official SDK and return it; needs the extra `[mcp]`.

        Callbacks take the SDK's `ServerRequestContext`: its `request` is the HTTP request, None over stdio.
        """
        if not self.options.is_enabled or self.options.mode == "off":
            return server
        # The MCP SDK takes a second to import, and is installed only where it is used.
        from agent_feedback.mcp.middleware import instrument  # noqa: PLC0415  # see above

        return instrument(server, self._services, self.callbacks, self.customer_context)

    def start(
        self,
        operation: str,
        *,
        customer_ref: str | None = None,
        session_ref: str | None = None,
        runtime_hint: str | None = None,
        surface: str = "http_json",
    ) -> Interaction:
        """Start an interaction of a product whose framework has no adapter."""
        references = self.callbacks.members(customer_ref, session_ref, clean_hint(runtime_hint))
        name = self.callbacks.named_operation(operation, str(operation))
        return Interaction(self._services, name, references, surface=surface)

    def flush(self, timeout: float | None = None) -> bool:
        """Send the queued telemetry; return whether all of it was sent or dropped within `timeout` seconds."""
        return self.telemetry.flush(timeout)

    def shutdown(self, timeout: float | None = None) -> int:
        """Send the queued telemetry and stop; return how many events were lost."""
        self.customer_context.close()
        return self.telemetry.shutdown(timeout)

    def _instrumentation(self) -> Instrumentation:
        return Instrumentation(self._services, self.callbacks, self.customer_context)

    def _has_work(self) -> bool:
        options = self.options
        return options.is_enabled and (options.mode != "off" or options.company_key is not None)
