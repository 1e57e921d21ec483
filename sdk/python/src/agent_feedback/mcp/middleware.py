"""The middleware of an MCP server: wraps its business tools and adds the tools for agents.

Whatever fails in here, a tool's result leaves as the tool made it.
"""

import logging
import time
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from agent_feedback import protocol_files
from agent_feedback.callbacks import Callbacks
from agent_feedback.context.action import MEMBER
from agent_feedback.context.client import CustomerContext, Observation
from agent_feedback.context.interaction import ContextRequest
from agent_feedback.delivery import SERVICE
from agent_feedback.envelope import ENVELOPE
from agent_feedback.errors import InvalidOption
from agent_feedback.interaction import MAX_DURATION_DIGITS, Interaction, Services
from agent_feedback.mcp import results
from agent_feedback.mcp.call import open_call
from agent_feedback.mcp.results import Result
from agent_feedback.mcp.tools import TOOLS, ServiceTools, describe_tools
from agent_feedback.operation import normalize_named_operation, normalize_operation

RequestContext = ServerRequestContext[Any, Any]
S = TypeVar("S")

MAX_PAGES = 20
"""Pages of a server's own list that are read for a tool that has not been listed yet."""

MAX_TOOLS = 10_000
"""Tools that are remembered: a server may list others to each of its users."""

_CONTRACT = protocol_files.read("contract.json")
_SURFACE: str = _CONTRACT["mcp"]["surface"]
_STATUS_CODE: int = _CONTRACT["mcp"]["statusCode"]
_ERROR_STATUS_CODE: int = _CONTRACT["mcp"]["errorStatusCode"]

logger = logging.getLogger("agent_feedback")


def instrument(server: S, services: Services, callbacks: Callbacks, customer_context: CustomerContext) -> S:
    """Wrap the tools of a server and return it: an `MCPServer` or a low-level `Server`; once, however often called."""
    middleware = getattr(server, "middleware", None)
    if not isinstance(middleware, list):
        raise InvalidOption("an MCPServer or a Server of mcp 2.3 or later is needed")
    if not any(isinstance(entry, FeedbackMiddleware) for entry in middleware):
        # First, so that no middleware of the product meets a tool that it does not know.
        middleware.insert(0, FeedbackMiddleware(services, callbacks, customer_context))
    return server


class McpCaller:
    """Whoever calls a tool; its User-Agent is the name and the version that the client gives of itself."""

    def __init__(self, context: RequestContext) -> None:
        self.source = context
        self._headers = getattr(context.request, "headers", None) or {}

    def header(self, name: str) -> str | None:
        """Return the value of a header of the HTTP request by its lower-cased name, or None."""
        client_params = self.source.session.client_params if name == "user-agent" else None
        if client_params is not None:
            info = client_params.client_info
            return f"{info.name}/{info.version}" if info.version else str(info.name)
        value: str | None = self._headers.get(name)
        return value


class ToolCall(NamedTuple):
    """A call of a business tool that has ended."""

    context: RequestContext
    interaction: Interaction
    context_request: ContextRequest | None
    status_code: int
    duration_ms: float

    def finish(self) -> None:
        """Put the call's event into the queue."""
        self.interaction.finish(status_code=self.status_code, duration_ms=self.duration_ms)


class FeedbackMiddleware:
    """Sees every request of a server; `tools/list` and `tools/call` are the ones that matter."""

    def __init__(self, services: Services, callbacks: Callbacks, customer_context: CustomerContext) -> None:
        self._services, self._callbacks, self._customer_context = services, callbacks, customer_context
        self._service_tools = ServiceTools(services.options)
        self._has_output_schema: dict[str, bool] = {}
        self._warned: set[str] = set()

    async def __call__(self, context: RequestContext, call_next: CallNext) -> HandlerResult:
        """Answer a request."""
        if context.method == "tools/list":
            return self._add_tools(await call_next(context))
        if context.method != "tools/call":
            return await call_next(context)
        name = (context.params or {}).get("name")
        if name in TOOLS:
            return await self._call_service_tool(str(name), context, call_next)
        has_output_schema = await self._find_output_schema(name, context, call_next)
        if has_output_schema is None:
            # No tool of this server, so nothing that was used; and its name is any text that a caller has chosen.
            return await call_next(context)
        return await self._call_business_tool(context, call_next, has_output_schema=has_output_schema)

    def _add_tools(self, result: HandlerResult) -> HandlerResult:
        page = results.as_json(result)
        if not isinstance(page.get("tools"), list):
            return result
        self._remember(page)
        if page.get("nextCursor"):
            return result
        business_tools = [tool for tool in page["tools"] if tool["name"] not in TOOLS]
        return {**page, "tools": [*business_tools, *describe_tools()]}

    def _remember(self, page: Result) -> None:
        if len(self._has_output_schema) > MAX_TOOLS:
            self._has_output_schema.clear()
        for tool in page["tools"]:
            self._has_output_schema[tool["name"]] = tool.get("outputSchema") is not None

    async def _find_output_schema(self, name: Any, context: RequestContext, call_next: CallNext) -> bool | None:
        """Tell whether a tool declares an output schema; None for a tool that the server does not list."""
        if name not in self._has_output_schema:
            try:
                await self._look_for(name, context, call_next)
            except Exception as error:  # the server's own list fails, and so will the call
                self._warn(f"the tools could not be listed ({type(error).__name__})")
        return self._has_output_schema.get(name)

    async def _look_for(self, name: Any, context: RequestContext, call_next: CallNext) -> None:
        """Read the server's own list until it has the tool."""
        cursor = None
        for _ in range(MAX_PAGES):
            page = await self._read_page(context, call_next, cursor)
            cursor = page.get("nextCursor")
            if name in self._has_output_schema or not cursor:
                return

    async def _read_page(self, context: RequestContext, call_next: CallNext, cursor: Any = None) -> Result:
        """Return a page of the server's own list, as it answers the client of this request."""
        params = {name: value for name, value in (context.params or {}).items() if name == "_meta"}
        if cursor:
            params["cursor"] = cursor
        page = results.as_json(await call_next(replace(context, method="tools/list", params=params)))
        self._remember(page)
        return page

    async def _call_service_tool(self, name: str, context: RequestContext, call_next: CallNext) -> Result:
        # The server refuses its list to whoever may not call its tools, and stamps it with what every result has.
        page = await self._read_page(context, call_next)
        result = await self._service_tools.call(name, (context.params or {}).get("arguments"))
        stamp: Result = {member: page[member] for member in ("resultType", "_meta") if member in page}
        return {**result, **stamp}

    async def _call_business_tool(
        self, context: RequestContext, call_next: CallNext, *, has_output_schema: bool
    ) -> HandlerResult:
        caller, started_at = McpCaller(context), time.perf_counter()
        if not self._is_wanted(caller):
            return await call_next(context)
        interaction = Interaction(self._services, _operation(context), {}, surface=_SURFACE)
        with open_call(caller) as slot:
            try:
                result = await call_next(context)
            except Exception:
                self._record_exception(caller, interaction, started_at)
                raise
        body = results.as_json(result)
        if not results.is_complete(body):
            return result
        try:
            status_code = _ERROR_STATUS_CODE if body.get("isError") else _STATUS_CODE
            call = self._end(caller, interaction, slot.context_request, status_code, started_at)
            return await self._decorate(call, body, has_output_schema=has_output_schema) or result
        except Exception as error:  # in a callback of the company, or in this package
            self._warn(f"something was not added to a result ({type(error).__name__})")
            return result

    def _is_wanted(self, caller: McpCaller) -> bool:
        try:
            return self._callbacks.should_instrument(caller)
        except Exception as error:  # in the company's callback
            self._warn(f"should_instrument has failed ({type(error).__name__})")
            return False

    def _record_exception(self, caller: McpCaller, interaction: Interaction, started_at: float) -> None:
        try:
            self._end(caller, interaction, None, _ERROR_STATUS_CODE, started_at).finish()
        except Exception as error:  # in a callback of the company; the tool's own exception is what counts
            self._warn(f"an exception was not recorded ({type(error).__name__})")

    def _end(
        self,
        caller: McpCaller,
        interaction: Interaction,
        context_request: ContextRequest | None,
        status_code: int,
        started_at: float,
    ) -> ToolCall:
        duration_ms = (time.perf_counter() - started_at) * 1000
        interaction.references = self._callbacks.references(caller, hint_source=_SURFACE)
        return ToolCall(caller.source, interaction, context_request, status_code, duration_ms)

    async def _decorate(self, call: ToolCall, result: Result, *, has_output_schema: bool) -> Result | None:
        """Return the result with the envelope and the context action; None where it has an envelope of its own."""
        names = results.member_names(result)
        if ENVELOPE in names:
            return None
        members: Result = {ENVELOPE: call.interaction.envelope()}
        action = None if SERVICE in names else await self._request_action(call)
        if action is not None:
            members[SERVICE] = action
        if action and call.context_request and call.context_request.operation:
            call.interaction.operation = call.context_request.operation
        call.finish()
        version = call.context.protocol_version
        return results.add_members(result, members, has_output_schema=has_output_schema, version=version)

    async def _request_action(self, call: ToolCall) -> Result | None:
        """Return the action that the tool's code has requested, or None."""
        context_request = call.context_request
        if context_request is None:
            return None
        if not context_request.customer:
            self._warn("a tool has requested context without a customer reference, which only HTTP can do")
            return None
        references = call.interaction.references
        duration_ms = round(call.duration_ms, MAX_DURATION_DIGITS)
        observation = Observation(
            call.status_code, duration_ms, references.get("sessionRef"), references.get("runtimeHint")
        )
        request = partial(
            self._customer_context.request_enrichment,
            context_request._replace(operation=context_request.operation or call.interaction.operation),
            interaction_id=call.interaction.interaction_id,
            surface=_SURFACE,
            observation=observation,
        )
        content = await anyio.to_thread.run_sync(request)
        is_usable = bool(content and (content.get("submit") or content.get("consent")))
        return {MEMBER: content} if is_usable else None

    def _warn(self, message: str) -> None:
        """Warn once of each kind: there may be hundreds of calls a second."""
        if message not in self._warned:
            self._warned.add(message)
            logger.warning("%s; results are as the tools made them", message)


def _operation(context: RequestContext) -> str:
    """Return the name of the tool that is called, as the service takes it."""
    name = str((context.params or {})["name"])
    return normalize_named_operation(name) or normalize_operation(name)
