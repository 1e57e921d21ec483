"""One product behind each adapter, so that a test asks both the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agent_feedback import AgentFeedback

from tests.sdk.asgi_site import fetch_asgi, make_asgi_app, part, start
from tests.sdk.site import BODY, JSON, Client, Headers, Response, fetch, make_app

ADAPTERS = ("wsgi", "asgi")
LOOPBACK = "http://127.0.0.1:9"
"""An address of the service at which nobody listens, and for which no certificates are read."""


@dataclass
class Call:
    """A request, and what the product answers to it."""

    body: bytes = BODY
    headers: Headers = field(default_factory=lambda: [JSON])
    status: int = 200
    method: str = "GET"
    path: str = "/orders/12"
    mount: str = ""
    query: str = ""
    request_headers: dict[str, str] = field(default_factory=dict)
    view: Callable[[dict[str, Any]], object] = lambda source: None
    """What the product does before it answers, with the environment or the scope."""


def make_client(**settings: object) -> Client:
    """Return a client that keeps its telemetry and asks nobody."""
    return Client(url=LOOPBACK, **settings)


def respond(adapter: str, feedback: AgentFeedback | None, call: Call) -> Response:
    """Return the response of the product, with the adapter unless there is no client."""
    return (_respond_wsgi if adapter == "wsgi" else _respond_asgi)(feedback, call)


def _respond_wsgi(feedback: AgentFeedback | None, call: Call) -> Response:
    answer = make_app(call.body, f"{call.status} Status", call.headers, has_length=False)

    def app(environ: dict[str, Any], start_response: Any) -> Any:
        call.view(environ)
        return answer(environ, start_response)

    environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in call.request_headers.items()}
    environ |= {"REQUEST_METHOD": call.method, "SCRIPT_NAME": call.mount, "QUERY_STRING": call.query}
    wrapped = app if feedback is None else feedback.wsgi(app)
    response = fetch(wrapped, call.path, is_strict=False, **environ)
    response.status = response.status[:3]
    return response


def _respond_asgi(feedback: AgentFeedback | None, call: Call) -> Response:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in call.headers]
    answer = make_asgi_app(start(headers, call.status), part(call.body))

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        call.view(scope)
        await answer(scope, receive, send)

    path = call.mount + call.path
    members = {"method": call.method, "root_path": call.mount, "query_string": call.query.encode()}
    request_headers = {name.lower(): value for name, value in call.request_headers.items()}
    wrapped = app if feedback is None else feedback.asgi(app)
    result = fetch_asgi(wrapped, path, headers=request_headers, **members)
    assert result.error is None
    return result.response
