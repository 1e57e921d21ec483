"""A product of Starlette, with a mounted application in it; the SDK is one of its own middlewares."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.websockets import WebSocket

from tests.sdk.frameworks import product

feedback = product.make_feedback()


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[dict[str, Any]]:
    product.give_sign("starlette-started")
    yield {"stock": 7}
    product.give_sign("starlette-stopped")


async def orders(request: Request) -> Response:
    return Response(product.ORDERS, media_type="application/json")


async def list_orders(request: Request) -> Response:
    return JSONResponse([1, 2])


async def page(request: Request) -> Response:
    return HTMLResponse(product.PAGE)


async def stream(request: Request) -> Response:
    return StreamingResponse(product.stream_async(request.path_params["name"]), media_type="application/json")


async def events(request: Request) -> Response:
    return StreamingResponse(product.stream_async(request.path_params["name"]), media_type="text/event-stream")


async def context(request: Request) -> Response:
    # What waits for the service runs in a thread.
    return JSONResponse(await asyncio.to_thread(product.answer_context, feedback, request))


async def stock(request: Request) -> Response:
    return JSONResponse({"stock": request.state.stock})


async def background(request: Request) -> Response:
    name = request.path_params["name"]

    async def work() -> None:
        await asyncio.to_thread(product.wait_for_sign, f"{name}-go")
        product.give_sign(f"{name}-done")

    return JSONResponse({"name": name}, background=BackgroundTask(work))


async def file(request: Request) -> Response:
    path = Path(product.folder()) / "orders.json"
    await asyncio.to_thread(path.write_text, product.ORDERS)
    return FileResponse(path, media_type="application/json")


async def error(request: Request) -> Response:
    raise LookupError


async def late_error(request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        yield product.CHUNKS[0]
        raise LookupError

    return StreamingResponse(chunks(), media_type="application/json")


async def endless(request: Request) -> Response:
    async def chunks() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"[1]\n"
                await asyncio.sleep(product.STEP_S)
        finally:
            product.give_sign(request.path_params["name"])

    return StreamingResponse(chunks(), media_type="application/json")


async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(f"{await websocket.receive_text()} {websocket.state.stock}")
    await websocket.close()


routes = [
    Route("/orders", orders, methods=["GET", "POST"]),
    Route("/list", list_orders),
    Route("/page", page),
    Route("/stream/{name}", stream),
    Route("/events/{name}", events),
    Route("/context", context),
    Route("/stock", stock),
    Route("/background/{name}", background),
    Route("/file", file),
    Route("/error", error),
    Route("/late-error", late_error),
    Route("/endless/{name}", endless),
    WebSocketRoute("/echo", echo),
]
app = Starlette(
    routes=[*routes, Mount("/inner", routes=routes)], lifespan=lifespan, middleware=[Middleware(feedback.asgi)]
)
