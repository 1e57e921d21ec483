"""A product of FastAPI, with a middleware of its own around each response."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import BackgroundTasks, FastAPI, Request, WebSocket
from fastapi.responses import HTMLResponse, Response, StreamingResponse

from tests.sdk.frameworks import product

feedback = product.make_feedback()


@asynccontextmanager
async def lifespan(api: FastAPI) -> AsyncIterator[dict[str, Any]]:
    product.give_sign("fastapi-started")
    yield {"stock": 7}
    product.give_sign("fastapi-stopped")


api = FastAPI(lifespan=lifespan)


@api.middleware("http")
async def pass_on(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    """Turn every response into a stream, as such a middleware does."""
    response = await call_next(request)
    response.headers["X-Middleware"] = "yes"
    return response


@api.get("/orders")
def orders() -> Response:
    return Response(product.ORDERS, media_type="application/json")


@api.get("/list")
async def list_orders() -> list[int]:
    return [1, 2]


@api.get("/page")
async def page() -> HTMLResponse:
    return HTMLResponse(product.PAGE)


@api.get("/stream/{name}")
async def stream(name: str) -> StreamingResponse:
    return StreamingResponse(product.stream_async(name), media_type="application/json")


@api.get("/events/{name}")
async def events(name: str) -> StreamingResponse:
    return StreamingResponse(product.stream_async(name), media_type="text/event-stream")


@api.get("/context")
def context(request: Request) -> dict[str, Any]:
    return product.answer_context(feedback, request)


@api.get("/stock")
async def stock(request: Request) -> dict[str, int]:
    return {"stock": request.state.stock}


@api.get("/background/{name}")
async def background(name: str, tasks: BackgroundTasks) -> dict[str, str]:
    tasks.add_task(product.wait_for_sign, f"{name}-go")
    tasks.add_task(product.give_sign, f"{name}-done")
    return {"name": name}


@api.get("/error")
def error() -> None:
    raise LookupError


@api.get("/late-error")
async def late_error() -> StreamingResponse:
    async def chunks() -> AsyncIterator[bytes]:
        yield product.CHUNKS[0]
        raise LookupError

    return StreamingResponse(chunks(), media_type="application/json")


@api.websocket("/echo")
async def echo(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.send_text(f"{await websocket.receive_text()} {websocket.state.stock}")
    await websocket.close()


app = feedback.asgi(api)
