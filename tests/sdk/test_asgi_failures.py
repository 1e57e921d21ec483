"""What fails in the product passes through the ASGI adapter; what fails in a callback costs the envelope alone."""

import asyncio
from typing import Any

import pytest

from tests.sdk.adapters import make_client
from tests.sdk.asgi_site import Message, fetch_asgi, make_asgi_app, make_scope, part, start, with_length
from tests.sdk.site import Client

PLAIN = [(b"content-type", b"text/plain")]


@pytest.fixture
def feedback() -> Client:
    return make_client()


@pytest.mark.parametrize(
    "messages", [[], [start()], [start(PLAIN)], [start(with_length(9)), part(b"{", more_body=True)], [start(), part()]]
)
def test_a_failure_of_the_product_is_its_own(feedback: Client, messages: list[Message]) -> None:
    error = LookupError("the product's own")

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)
        raise error

    result = fetch_asgi(feedback.asgi(app))
    assert result.error is error
    if messages[1:] != [part()]:
        assert result.messages == messages
    else:
        assert result.response.has_envelope


def test_a_client_that_leaves_while_the_product_fails_hides_no_failure(feedback: Client) -> None:
    async def send(message: Message) -> None:
        raise OSError("gone")

    with pytest.raises(LookupError):
        asyncio.run(feedback.asgi(make_asgi_app(start(), error=LookupError()))(make_scope(), None, send))
    with pytest.raises(OSError, match="gone"):
        asyncio.run(feedback.asgi(make_asgi_app())(make_scope(), None, send))


def test_a_cancelled_request_sends_nothing_more(feedback: Client) -> None:
    sent: list[Message] = []

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await send(start())
        await asyncio.sleep(60)

    async def send(message: Message) -> None:
        sent.append(message)

    async def run() -> None:
        task = asyncio.create_task(feedback.asgi(app)(make_scope(), None, send))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert sent == []


@pytest.mark.parametrize("settings", [{"customer_ref": 1}, {"operation": 1}, {"should_instrument": 1}])
def test_a_callback_that_fails_costs_the_envelope_alone(settings: dict[str, Any]) -> None:
    def fail(scope: Any) -> Any:
        raise RuntimeError

    feedback = make_client(**dict.fromkeys(settings, fail))
    result = fetch_asgi(feedback.asgi(make_asgi_app()))
    assert result.messages == [start(), part()]
