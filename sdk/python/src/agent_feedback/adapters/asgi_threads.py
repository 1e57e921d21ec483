"""Threads in which the ASGI adapter waits for the service, so that the event loop never does."""

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MAX_THREADS = 32


class NoThread(Exception):
    """All threads are in use, or the system has no more."""


class Threads:
    """Threads for one purpose of one adapter; those of the event loop are for the product and the look-up of hosts.

    Nothing waits for a thread: whoever gets none at once does without.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._free = threading.Semaphore(MAX_THREADS)
        self._executor: ThreadPoolExecutor | None = None

    async def run(
        self,
        timeout_s: float | None,
        function: Callable[Arguments, Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Return what a function returns that waits for the network; it runs in the context of this request.

        Raise `NoThread`, or the time-out of asyncio; the function itself goes on then.
        """
        # An ASGI server has these; they are 40 ms of the start of everything else.
        import asyncio  # noqa: PLC0415  # see the line above
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # as above

        asyncio.get_running_loop()  # fails under another event loop, before anything has begun
        if self._executor is None:  # only in the process that serves requests, which may be a fork
            self._executor = ThreadPoolExecutor(MAX_THREADS, self._name)
        if not self._free.acquire(blocking=False):
            raise NoThread
        context = copy_context()
        try:
            future = self._executor.submit(lambda: context.run(function, *args, **kwargs))
        except RuntimeError:
            self._free.release()
            raise NoThread from None
        future.add_done_callback(lambda _future: self._free.release())
        return await asyncio.wait_for(asyncio.wrap_future(future), timeout_s)
