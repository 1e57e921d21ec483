"""The middleware of an MCP server: wraps its business tools and adds the tools for agents.

Whatever fails in here, a tool's result leaves as the tool made it.
"""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio.to_thread
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from agent_feedback import context_action, protocol_files
from agent_feedback.context import Observation
from agent_feedback.context_interaction import ContextRequest, ContextSlot
from agent_feedback.envelope import FIELD
from agent_feedback.errors import InvalidOption
from agent_feedback.mcp import results
from agent_feedback.mcp.call import open_call
from agent_feedback.mcp.results import Result
from agent_feedback.mcp.tools import TOOLS, ServiceTools, describe_tools
from agent_feedback.operation import normalize_named_operation, normalize_operation

if TYPE_CHECKING:
    from agent_feedback.client import AgentFeedback, Interaction

RequestContext = ServerRequestContext[Any, Any]
S = TypeVar("S")

MAX_PAGES = 20
"""Pages of a server's own list that are read for a tool that has not been listed yet."""

_CONTRACT = protocol_files.read("contract.json")
_SURFACE: str = _CONTRACT["mcp"]["surface"]
_STATUS_CODE: int = _CONTRACT["mcp"]["statusCode"]
_ERROR_STATUS_CODE: int = _CONTRACT["mcp"]["errorStatusCode"]
_RELIABILITY: str = _CONTRACT["reliability"]["mcp"]

logger = logging.getLogger("agent_feedback")


def instrument(server: S, client: "AgentFeedback") -> S:
    """Wrap the tools of a server and return it: an `MCPServer` or a low-level `Server`; once, however often called."""
    middleware = getattr(server, "middleware", None)
    if not isinstance(middleware, list):
        raise InvalidOption("an MCPServer or a Server of mcp 2.3 or later is needed")
    if not any(isinstance(entry, FeedbackMiddleware) for entry in middleware):
        middleware.append(FeedbackMiddleware(client))
    return server


class ToolCall(NamedTuple):
    """A call of a business tool that has ended."""

    name: str
    context: RequestContext
    interaction: "Interaction"
    context_request: ContextRequest | None
    status_code: int
    duration_ms: float
    references: Mapping[str, str]
    """What the company's callbacks returned for the call, by telemetry's names."""

    @property
    def operation(self) -> str:
        """The tool's name, as the service takes it."""
        return normalize_named_operation(self.name) or normalize_operation(self.name)

    def record(self, operation: str | None = None) -> None:
        """Put the call's event into the queue."""
        details = {"statusCode": self.status_code, "durationMs": self.duration_ms, **self.references}
        self.interaction.record(_SURFACE, operation or self.operation, **details)


class FeedbackMiddleware:
    """Sees every request of a server; `tools/list` and `tools/call` are the ones that matter."""

    def __init__(self, client: "AgentFeedback") -> None:
        self._client = client
        self._service_tools = ServiceTools(client.options)
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
        for tool in page["tools"]:
            self._has_output_schema[tool["name"]] = tool.get("outputSchema") is not None

    async def _find_output_schema(self, name: Any, context: RequestContext, call_next: CallNext) -> bool | None:
        """Tell whether a tool declares an output schema; None for a tool that the server does not list."""
        if name not in self._has_output_schema:
            try:
                await self._read_list(context, call_next)
            except Exception as error:  # the server's own list fails, and so will the call
                self._warn(f"the tools could not be listed ({type(error).__name__})")
        return self._has_output_schema.get(name)

    async def _read_list(self, context: RequestContext, call_next: CallNext) -> Result:
        """Read the server's own list as the client could, and return its first page."""
        meta = {"_meta": context.params["_meta"]} if context.params and "_meta" in context.params else {}
        cursor: dict[str, str] = {}
        first_page: Result = {}
        for _ in range(MAX_PAGES):
            page = results.as_json(await call_next(replace(context, method="tools/list", params={**meta, **cursor})))
            self._remember(page)
            first_page = first_page or page
            if not page.get("nextCursor"):
                break
            cursor = {"cursor": page["nextCursor"]}
        return first_page

    async def _call_service_tool(self, name: str, context: RequestContext, call_next: CallNext) -> Result:
        # The server refuses its list to whoever may not call its tools, and stamps it with what every result has.
        page = await self._read_list(context, call_next)
        result = await self._service_tools.call(name, (context.params or {}).get("arguments"))
        stamp: Result = {member: page[member] for member in ("resultType", "_meta") if member in page}
        return {**result, **stamp}

    async def _call_business_tool(
        self, context: RequestContext, call_next: CallNext, *, has_output_schema: bool
    ) -> HandlerResult:
        interaction, started_at = self._client.start_interaction(), time.perf_counter()
        with open_call(context.request) as slot:
            try:
                result = await call_next(context)
            except Exception:
                self._record_exception(context, interaction, started_at)
                raise
        body = results.as_json(result)
        if not results.is_complete(body):
            return result
        try:
            status_code = _ERROR_STATUS_CODE if body.get("isError") else _STATUS_CODE
            call = self._end(context, interaction, slot, status_code, started_at)
            return await self._decorate(call, body, has_output_schema=has_output_schema) or result
        except Exception as error:  # in a callback of the company, or in this package
            self._warn(f"something was not added to a result ({type(error).__name__})")
            return result

    def _record_exception(self, context: RequestContext, interaction: "Interaction", started_at: float) -> None:
        try:
            self._end(context, interaction, ContextSlot(), _ERROR_STATUS_CODE, started_at).record()
        except Exception as error:  # in a callback of the company; the tool's own exception is what counts
            self._warn(f"an exception was not recorded ({type(error).__name__})")

    def _end(
        self,
        context: RequestContext,
        interaction: "Interaction",
        slot: ContextSlot,
        status_code: int,
        started_at: float,
    ) -> ToolCall:
        return ToolCall(
            str((context.params or {})["name"]),
            context,
            interaction,
            slot.context_request,
            status_code,
            round((time.perf_counter() - started_at) * 1000, 3),
            self._client.references(context, user_agent=_client_name(context), source=_SURFACE),
        )

    async def _decorate(self, call: ToolCall, result: Result, *, has_output_schema: bool) -> Result | None:
        """Return the result with the envelope and the context action; None where it has an envelope of its own."""
        names = results.member_names(result)
        if FIELD in names:
            return None
        envelope = call.interaction.envelope(call.references.get("customerRef"))
        members: Result = {FIELD: {**envelope, "reliability": _RELIABILITY}}
        action = None if context_action.FIELD in names else await self._request_action(call)
        if action is not None:
            members[context_action.FIELD] = action
        call.record(call.context_request.operation if action and call.context_request else None)
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
        observation = Observation(
            call.status_code, call.duration_ms, call.references.get("sessionRef"), call.references.get("runtimeHint")
        )
        request = partial(
            self._client.customer_context.request_enrichment,
            context_request._replace(operation=context_request.operation or call.operation),
            interaction_id=call.interaction.interaction_id,
            surface=_SURFACE,
            observation=observation,
        )
        content = await anyio.to_thread.run_sync(request)
        is_usable = bool(content and (content.get("submit") or content.get("consent")))
        return {context_action.MEMBER: content} if is_usable else None

    def _warn(self, message: str) -> None:
        """Warn once of each kind: there may be hundreds of calls a second."""
        if message not in self._warned:
            self._warned.add(message)
            logger.warning("%s; results are as the tools made them", message)


def _client_name(context: RequestContext) -> str | None:
    """Return the name and version that the client gives of itself, or else the User-Agent of its HTTP request."""
    client_params = context.session.client_params
    if client_params is not None:
        info = client_params.client_info
        return f"{info.name}/{info.version}" if info.version else info.name
    headers = getattr(context.request, "headers", None)
    return None if headers is None else headers.get("user-agent")
