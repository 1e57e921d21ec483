"""A product of Django, for WSGI and ASGI."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.handlers.asgi import ASGIRequest
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path

from tests.sdk.frameworks import product

settings.configure(
    ROOT_URLCONF=__name__,
    SECRET_KEY="for tests alone",
    ALLOWED_HOSTS=["127.0.0.1"],
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],
)
feedback = product.make_feedback()


def orders(request: Any) -> HttpResponse:
    return HttpResponse(product.ORDERS, content_type="application/json")


def list_orders(request: Any) -> HttpResponse:
    return JsonResponse([1, 2], safe=False)


def page(request: Any) -> HttpResponse:
    return HttpResponse(product.PAGE)


def stream(request: Any, name: str, content_type: str) -> StreamingHttpResponse:
    read = product.stream_async if isinstance(request, ASGIRequest) else product.stream
    return StreamingHttpResponse(read(name), content_type=content_type)


def context(request: Any) -> HttpResponse:
    return JsonResponse(product.answer_context(feedback, request))


def error(request: Any) -> HttpResponse:
    raise LookupError


def _late_error() -> Iterator[bytes]:
    yield product.CHUNKS[0]
    raise LookupError


async def _late_error_async() -> AsyncIterator[bytes]:
    for chunk in _late_error():
        yield chunk


def late_error(request: Any) -> StreamingHttpResponse:
    chunks = _late_error_async if isinstance(request, ASGIRequest) else _late_error
    return StreamingHttpResponse(chunks(), content_type="application/json")


urlpatterns = [
    path("orders", orders),
    path("list", list_orders),
    path("page", page),
    path("stream/<name>", stream, {"content_type": "application/json"}),
    path("events/<name>", stream, {"content_type": "text/event-stream"}),
    path("context", context),
    path("error", error),
    path("late-error", late_error),
]

wsgi = feedback.wsgi(get_wsgi_application())
asgi = feedback.asgi(get_asgi_application())
