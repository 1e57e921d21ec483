"""The MCP server of a person's own agent; imported only where the extra `mcp` is installed.

It acts only on envelopes that it has parsed itself, from a page that it has fetched or a text that it was given, and
tells the agent the protocol's instructions, whatever the product has written in their place.
"""

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Literal, ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from agent_feedback import protocol_files
from agent_feedback.agent import ContextAction, Received, discover, fetch, from_response
from agent_feedback.cli.terminal import reason_of
from agent_feedback.cli.why import find_reasons
from agent_feedback.errors import InvalidOption, ServiceError, ServiceUnavailable
from agent_feedback.version import VERSION

MAX_ENVELOPES = 100
"""Of more, the one that was used least recently is forgotten."""

_TEXTS = protocol_files.read("instructions.json")
_SERVER_TEXTS = _TEXTS["agentServer"]

Answer = dict[str, Any]
Arguments = ParamSpec("Arguments")


def serve(allowed_origins: Sequence[str]) -> None:
    """Serve the tools over standard input and output until the client ends."""
    make_server(allowed_origins).run("stdio")


def make_server(allowed_origins: Sequence[str]) -> MCPServer:
    """Return the server with its tools, which send to these origins only."""
    instructions = f"{_SERVER_TEXTS['about']} {_SERVER_TEXTS['untrusted']}"
    server = MCPServer("agent-feedback", instructions=instructions, version=VERSION, log_level="ERROR")
    tools = Tools(allowed_origins)
    for name, texts in _SERVER_TEXTS["tools"].items():
        tool = _with_tool_errors(getattr(tools, name))
        server.add_tool(tool, name, texts["title"], texts["description"], structured_output=True)
    return server


class Tools:
    """The tools, and the envelopes that they may act on."""

    def __init__(self, allowed_origins: Sequence[str]) -> None:
        self._allowed_origins = list(allowed_origins)
        self._envelopes: OrderedDict[str, Received] = OrderedDict()
        # Tools run in threads of their own.
        self._lock = threading.Lock()

    def inspect_product_feedback(
        self,
        url: str | None = None,
        headers: dict[str, str] | None = None,
        response: str | dict[str, Any] | list[Any] | None = None,
    ) -> Answer:
        """Fetch a URL, or parse the text of a response; answers to its request for context go to its `url`.

        The text of JSON arrives here as what it stands for.
        """
        if response is not None:
            return self._describe(from_response(response, allowed_origins=self._allowed_origins, url=url), [])
        if url is None:
            raise InvalidOption("either url or response is needed")
        page = fetch(url, headers)
        received = discover(page, allowed_origins=self._allowed_origins)
        reasons = [] if received and received.content else [reason.sentence for reason in find_reasons(page)]
        return self._describe(received, reasons)

    def decide_product_feedback(
        self, envelopeId: str, decision: Literal["approved", "declined"], userAskedToChange: bool = False
    ) -> Answer:
        """Send a decision on the question that stands, or, where the user has asked for it, on a standing choice."""
        received = self._find(envelopeId)
        if received.question is None and not userAskedToChange:
            raise InvalidOption("no question stands; an earlier choice is changed only if the user asks for it")
        answer = received.decide(decision)
        return {"decision": answer.get("state"), **_summary(received)}

    def submit_product_outcome(
        self, envelopeId: str, outcome: Literal["success", "partial", "failure"], note: str, preview: bool = False
    ) -> Answer:
        """Send a review, or return what would be stored of it."""
        received = self._find(envelopeId)
        return received.preview_outcome(outcome, note) if preview else received.submit_outcome(outcome, note)

    def submit_product_report(self, envelopeId: str, report: dict[str, Any], preview: bool = False) -> Answer:
        """Send a report, or return what would be stored of it."""
        received = self._find(envelopeId)
        if "summary" not in report:
            raise InvalidOption("report.summary is needed")
        return received.preview_report(**report) if preview else received.submit_report(**report)

    def answer_customer_context(
        self,
        envelopeId: str,
        items: list[dict[str, Any]],
        status: Literal["answered", "declined", "no_relevant_context"] = "answered",
    ) -> Answer:
        """Answer the context action at the origin of the product."""
        return self._find(envelopeId).answer(items, status)

    def _describe(self, received: Received | None, reasons: list[str]) -> Answer:
        """Return what a response asks for, under an id of its own, after asking the service about it."""
        if received is None:
            return {"envelopeId": None, "state": "not_requested", "reasons": reasons}
        answer: Answer = {"envelopeId": self._keep(received), "service": received.service_origin}
        if received.service_origin and not received.is_allowed:
            answer["notAllowed"] = _not_allowed(received.service_origin)
        elif received.service_origin:
            answer["productName"] = received.introspect().get("productName")
        context = {"context": _context_summary(received.context)} if received.context else {}
        return {**answer, **_summary(received), **context}

    def _keep(self, received: Received) -> str:
        envelope_id = secrets.token_urlsafe(9)
        with self._lock:
            self._envelopes[envelope_id] = received
            while len(self._envelopes) > MAX_ENVELOPES:
                self._envelopes.popitem(last=False)
        return envelope_id

    def _find(self, envelope_id: str) -> Received:
        with self._lock:
            received = self._envelopes.get(envelope_id)
            if received is None:
                raise InvalidOption("there is no such envelopeId; inspect_product_feedback gives one")
            self._envelopes.move_to_end(envelope_id)
        return received


def _summary(received: Received) -> Answer:
    """Return the state of an envelope and what may be done, in the words of the protocol."""
    content, state = received.content, received.state
    members: Answer = {"state": state}
    if isinstance(_TEXTS.get(state), str):
        members |= {"instruction": _TEXTS[state], "privacy": _TEXTS["privacy"]}
    if received.question and received.is_allowed:
        members["question"] = received.question
    for name, action, bounds in (("outcome", "submitOutcome", "bodySchema"), ("report", "submit", "reportSchema")):
        if isinstance(content.get(action), dict):
            members[name] = content[action].get(bounds)
    if isinstance(content.get("manageConsent"), dict):
        members["currentChoice"] = content["manageConsent"].get("current")
    return members


def _context_summary(action: ContextAction) -> Answer:
    """Return what a product asks for, with the protocol's instructions for its state and purpose."""
    purpose = action.content.get("purpose")
    texts: Any = _TEXTS["context"].get(action.state) or {}
    # Those of some states differ by purpose; a product may send any value for one.
    by_purpose = texts.get(purpose) if isinstance(purpose, str) else None
    texts = by_purpose if isinstance(by_purpose, dict) else texts
    return {
        "state": action.state,
        "purpose": purpose,
        "instruction": texts.get("stage"),
        "answerInstruction": texts.get("answer"),
        "constraints": action.content.get("constraints"),
        "catalog": action.catalog,
    }


def _not_allowed(origin: str) -> str:
    return (
        f"Nothing can be sent to {origin}: the person who runs this server has not allowed it. "
        f"--allow-origin {origin} or AGENT_FEEDBACK_ALLOWED_ORIGINS does."
    )


def _with_tool_errors(tool: Callable[Arguments, Answer]) -> Callable[Arguments, Answer]:
    """Return a tool whose failures become its result, for the agent to read."""

    @wraps(tool)
    def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Answer:
        try:
            return tool(*arguments, **options)
        except ServiceUnavailable as error:
            raise ToolError(f"{error}{reason_of(error)}") from error
        except (InvalidOption, ServiceError) as error:
            raise ToolError(str(error)) from error

    return call
