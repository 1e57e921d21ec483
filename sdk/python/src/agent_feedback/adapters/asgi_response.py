"""ASGI responses whose messages are buffered until it is clear what they become."""

import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from agent_feedback.adapters.asgi_threads import Threads
from agent_feedback.context.interaction import ContextSlot
from agent_feedback.instrumentation import Headers, Instrumentation, ModifiedResponse, ResponseHead, make_private
from agent_feedback.request import Request

Message = dict[str, Any]

_GRACE_S = 0.1
"""How much longer than for its context action a response waits for the thread that asks for it."""


class BufferedResponse:
    """A `send` that buffers the messages of an eligible response and passes every other one on at once.

    A response is buffered while its head is eligible, and it declares a length within the limit or its first body
    message is still missing: whether that one is the whole body decides. Servers of WSGI keep a head until then, too.
    """

    def __init__(
        self,
        send: Callable[[Message], Awaitable[None]],
        instrumentation: Instrumentation,
        request: Request,
        slot: ContextSlot | None,
        threads: Threads,
    ) -> None:
        self._send, self._instrumentation, self._threads = send, instrumentation, threads
        self._request, self._slot = request, slot
        self._started_at = time.perf_counter()
        self._messages: list[Message] = []
        self._headers: Headers = []
        self._size = 0
        self._head: ResponseHead | None = None
        self.is_private = False
        """Whether caches must not keep the response, whatever it is."""

    async def __call__(self, message: Message) -> None:
        """Take a message of the product."""
        if self._head is not None:
            await self._continue(self._head, message)
            return
        if message["type"] == "http.response.start":
            message = self._read_start(message)
        if self._head is None:
            await self._send(message)
        else:
            self._messages.append(message)

    async def release(self, headers: Headers | None = None) -> None:
        """Pass on what is buffered, with other headers if given; later messages pass at once."""
        self._head = None
        messages, self._messages = self._messages, []
        if messages and headers not in (None, self._headers):
            messages[0] = {**messages[0], "headers": encode_headers(headers)}
        for message in messages:
            await self._send(message)

    def _read_start(self, message: Message) -> Message:
        """Return the start of the response, and buffer it if it may be changed."""
        headers = _decode_headers(message.get("headers", ()))
        if headers is None:  # for the server to refuse
            return message
        if self.is_private:
            headers = make_private(headers)
            message = {**message, "headers": encode_headers(headers)}
        if message.get("trailers"):  # after the body, which they may describe
            return message
        head = self._instrumentation.read_head(self._request, self._slot, message.get("status", 0), headers)
        # Without a length, the first body message will tell.
        if head is None or not self._instrumentation.is_bounded(head, is_complete=True):
            return message
        if head.length is not None and not head.is_modifiable:
            return {**message, "headers": encode_headers(head.headers)}
        self._head, self._headers = head, headers
        return message

    async def _continue(self, head: ResponseHead, message: Message) -> None:
        """Take a message after the start of an eligible response."""
        body = message.get("body", b"") if message["type"] == "http.response.body" else None
        has_more = message.get("more_body", False)
        self._messages.append(message)
        if not isinstance(body, bytes) or (head.length is None and has_more):
            await self.release()  # a file that the server sends, say, or a stream
        elif not head.is_modifiable:
            await self.release(head.headers)
        else:
            self._size += len(body)
            # With its last declared byte a response is complete for the client, whatever follows.
            if not has_more or (head.length is not None and self._size >= head.length):
                await self._finish(head)

    async def _finish(self, head: ResponseHead) -> None:
        """Pass on the complete response, modified if it can be."""
        text = b"".join(message.get("body", b"") for message in self._messages[1:])
        modified = await self._modify(head, text)
        if modified is not None:
            modified.record()
            if modified.body is not None:
                self._messages[1:] = [{**self._messages[-1], "body": modified.body}]
        await self.release(head.headers if modified is None else modified.headers)

    async def _modify(self, head: ResponseHead, text: bytes) -> ModifiedResponse | None:
        arguments = self._request, self._slot, head, text, (time.perf_counter() - self._started_at) * 1000
        if self._slot is None or self._slot.context_request is None:
            return self._instrumentation.modify(*arguments)
        timeout_s = self._instrumentation.context_timeout_s + _GRACE_S
        try:
            return await self._threads.run(timeout_s, self._instrumentation.modify, *arguments)
        except Exception:  # no thread can be had or it takes too long, or another event loop than that of asyncio runs
            return self._instrumentation.modify(self._request, None, *arguments[2:])


def _decode_headers(headers: Any) -> Headers | None:
    """Return headers as text; None if they cannot be read, or only once."""
    if not isinstance(headers, (list, tuple)):
        return None
    try:
        return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]
    except (AttributeError, TypeError, ValueError):
        return None


def encode_headers(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return headers as ASGI has them, with lower-cased names."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
