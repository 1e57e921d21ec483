"""Threads in which the ASGI adapter waits for the service, so that the event loop never does."""

from collections.abc import Callable
from contextvars import copy_context
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MAX_THREADS = 32


class Threads:
    """The threads of one adapter; those of the event loop are for the product and the look-up of host names."""

    def __init__(self) -> None:
        self._executor: ThreadPoolExecutor | None = None

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Return what a function returns that waits for the network; it runs in the context of this request."""
        # An ASGI server has these; they are 40 ms of the start of everything else.
        import asyncio  # noqa: PLC0415  # see the line above
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  # as above

        if self._executor is None:  # only in the process that serves requests, which may be a fork
            self._executor = ThreadPoolExecutor(MAX_THREADS, "agent-feedback-context")
        context = copy_context()
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._executor, lambda: context.run(function, *args, **kwargs))
