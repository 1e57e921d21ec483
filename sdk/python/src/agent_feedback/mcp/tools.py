"""The five tools for agents: each forwards one kind of body to the service, with the authorization of the envelope."""

import json
import re
import time
from functools import partial
from typing import Any, NamedTuple

import anyio
import anyio.to_thread

from agent_feedback import protocol_files
from agent_feedback.errors import ServiceUnavailable
from agent_feedback.http.client import HttpClient, HttpResponse
from agent_feedback.options import Options

Json = dict[str, Any]

MAX_CONCURRENT_CALLS = 8
"""More of them wait, so that a service that is slow does not occupy the threads of the product's own tools."""

_CONTRACT = protocol_files.read("contract.json")
_TEXTS = protocol_files.read("instructions.json")["mcp"]
_PATHS: dict[str, str] = _CONTRACT["paths"]
_MAX_BODY_BYTES: int = _CONTRACT["relay"]["maxBodyBytes"]
_TRIES: int = _CONTRACT["agent"]["tries"]
_RETRY_DELAY_S: float = _CONTRACT["agent"]["retryDelayMs"] / 1000

_CAPABILITY = re.compile(rf"{_CONTRACT['capability']['prefix']}[A-Za-z0-9._-]{{16,2048}}\Z")
_HANDLE = re.compile(_CONTRACT["relay"]["handle"].removesuffix("$") + r"\Z")
_BEARER = "bearer "


class ToolKind(NamedTuple):
    """Where a tool's body goes, which schema it has, and what authorizes it."""

    path: str
    schema: str
    credential: "re.Pattern[str]"


TOOLS: dict[str, ToolKind] = dict(
    zip(
        _CONTRACT["mcp"]["tools"],
        (
            ToolKind(_PATHS["outcomes"], "outcome", _CAPABILITY),
            ToolKind(_PATHS["reports"], "report", _CAPABILITY),
            ToolKind(_PATHS["decisions"], "decision", _CAPABILITY),
            ToolKind(_PATHS["answers"], "enrichment-answer", _HANDLE),
            ToolKind(_PATHS["contextConsent"], "enrichment-choice", _HANDLE),
        ),
        strict=True,
    )
)


def describe_tools() -> list[Json]:
    """Return the tools as `tools/list` has them."""
    return [_describe(name, kind) for name, kind in TOOLS.items()]


def _describe(name: str, kind: ToolKind) -> Json:
    texts = _TEXTS["tools"][name]
    schema = protocol_files.read(f"schemas/{kind.schema}.json")
    authorization = {"type": "string", "description": _TEXTS["authorization"]}
    return {
        "name": name,
        "title": texts["title"],
        "description": texts["description"],
        "inputSchema": {
            "type": "object",
            "additionalProperties": False,
            "required": ["authorization", *schema["required"]],
            "properties": {"authorization": authorization, **schema["properties"]},
        },
        "annotations": {
            "readOnlyHint": False,
            "destructiveHint": False,
            "idempotentHint": True,
            "openWorldHint": True,
        },
    }


class ServiceTools:
    """Runs the tools for one product."""

    def __init__(self, options: Options) -> None:
        self._endpoint, self._timeout_s = options.endpoint, options.relay_timeout
        self._limiter = anyio.CapacityLimiter(MAX_CONCURRENT_CALLS)

    async def call(self, name: str, arguments: Any) -> Json:
        """Forward the arguments of a call and return its result; no error of the service is raised."""
        kind = TOOLS[name]
        members = dict(arguments) if isinstance(arguments, dict) else {}
        token = _read_bearer(members.pop("authorization", None), kind.credential)
        if token is None:
            return _failure("unauthorized")
        body = _encode(members, kind)
        if body is None:
            return _failure("invalid")
        answer = None
        send = partial(self._send, kind.path, token, body)
        with anyio.move_on_after(_TRIES * self._timeout_s + _RETRY_DELAY_S):
            answer = await anyio.to_thread.run_sync(send, abandon_on_cancel=True, limiter=self._limiter)
        return _failure("unavailable") if answer is None else answer

    def _send(self, path: str, token: str, body: bytes) -> Json | None:
        """Return the result made of the service's answer; None where there is none after a second try."""
        client = HttpClient(self._endpoint)
        try:
            for tries in range(_TRIES):
                if tries:
                    time.sleep(_RETRY_DELAY_S)
                try:
                    response = client.post(path, body, token, self._timeout_s)
                    if response.status < 500:
                        return _read_answer(response)
                except ServiceUnavailable:
                    pass
                # The second try opens a connection of its own.
                client.close()
        finally:
            client.close()
        return None


def _read_bearer(authorization: Any, credential: "re.Pattern[str]") -> str | None:
    """Return the token of an authorization, with or without its scheme; None where it has another form."""
    text = authorization.strip() if isinstance(authorization, str) else ""
    token = text[len(_BEARER) :].strip() if text.lower().startswith(_BEARER) else text
    return token if credential.match(token) else None


def _encode(members: Json, kind: ToolKind) -> bytes | None:
    """Return a body of the schema's members as JSON; None where there are others, or it is too long."""
    if not members.keys() <= protocol_files.read(f"schemas/{kind.schema}.json")["properties"].keys():
        return None
    try:
        body = json.dumps(members, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return None
    return body if len(body) <= _MAX_BODY_BYTES else None


def _read_answer(response: HttpResponse) -> Json | None:
    try:
        answer = json.loads(response.body)
    except (ValueError, RecursionError):
        return None
    # Redirects are not followed, and what is no JSON object is an answer of something between.
    if not isinstance(answer, dict) or 300 <= response.status < 400:
        return None
    text = {"type": "text", "text": json.dumps(answer)}
    return {"content": [text], "structuredContent": answer, "isError": response.status != 200}


def _failure(name: str) -> Json:
    return {"content": [{"type": "text", "text": _TEXTS["failures"][name]}], "isError": True}
