"""A product for the conformance suite: a plain ASGI application under uvicorn."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from product import CONTROL_PREFIX, Reply, RouteFailure, Routes, control, make_feedback, shut_down

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def read_header(scope: Scope, name: str) -> str | None:
    """Return a header of a request."""
    wanted = name.lower().encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == wanted), None)


feedback = make_feedback(read_header)
routes = Routes(feedback, read_header)


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request by its route."""
    if scope["type"] == "lifespan":
        await answer_lifespan(receive, send)
        return
    raw_path = scope.get("raw_path", b"").decode("latin-1")
    route = routes.find(scope["method"], scope["path"]) or routes.find(scope["method"], raw_path)
    if route is None:
        reply = Reply(404, [("Content-Type", "text/plain")], [b"not found"])
    else:
        # It may wait, and ask the service.
        reply = await asyncio.to_thread(routes.answer, route, scope)
    await respond(reply, send)


async def answer_lifespan(receive: Receive, send: Send) -> None:
    """Say that the application has started and ended."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def respond(reply: Reply, send: Send) -> None:
    """Send a response: a stream's chunks in messages of their own, and else all of it in one."""
    headers = [(name.lower().encode(), value.encode("latin-1")) for name, value in reply.headers]
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    if not reply.is_stream and not reply.raises:
        await send({"type": "http.response.body", "body": b"".join(reply.chunks)})
        return
    for chunk in reply.chunks:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
    if reply.raises:
        raise RouteFailure
    await send({"type": "http.response.body", "body": b""})


def controlled(app: App) -> App:
    """Return an application that answers the suite's own requests before the product sees them."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(CONTROL_PREFIX):
            await app(scope, receive, send)
            return
        body, has_more = b"", True
        while has_more:
            message = await receive()
            body, has_more = body + message.get("body", b""), message.get("more_body", False)
        name = scope["path"].removeprefix(CONTROL_PREFIX)
        status, content = await asyncio.to_thread(control, feedback, scope["method"], name, body)
        await respond(Reply(status, [("Content-Type", "application/json")], [json.dumps(content).encode()]), send)

    return answer


def main() -> None:
    """Serve until SIGTERM, and shut the SDK down."""
    # uvicorn raises the signal again when it has ended; the SDK is still to be shut down then.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    uvicorn.run(
        controlled(feedback.asgi(application)), host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning"
    )
    shut_down(feedback)


if __name__ == "__main__":
    main()
