"""A product for the conformance suite: a plain WSGI application under gunicorn."""

import json
import os
import signal
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from product import CONTROL_PREFIX, Reply, Routes, control, fail_after, make_feedback, shut_down

Environ = dict[str, Any]
StartResponse = Callable[..., Any]


def read_header(environ: Environ, name: str) -> str | None:
    """Return a header of a request."""
    return environ.get(f"HTTP_{name.upper().replace('-', '_')}")


# Before gunicorn forks its worker, as prefork servers do; a malformed option ends the program here.
feedback = make_feedback(read_header)
routes = Routes(feedback, read_header)


def application(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
    """Answer a request by its route."""
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    route = routes.find(environ["REQUEST_METHOD"], path) or routes.find(environ["REQUEST_METHOD"], _raw_path(environ))
    if route is None:
        return respond(Reply(404, [("Content-Type", "text/plain")], [b"not found"]), start_response)
    return respond(routes.answer(route, environ), start_response)


def respond(reply: Reply, start_response: StartResponse) -> Iterable[bytes]:
    """Start a response and return its body."""
    try:
        phrase = HTTPStatus(reply.status).phrase
    except ValueError:
        phrase = "Unnamed"
    start_response(f"{reply.status} {phrase}", reply.headers)
    if reply.raises:
        return fail_after(reply.chunks)
    return iter(reply.chunks) if reply.is_stream else reply.chunks


def controlled(app: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Return an application that answers the suite's own requests before the product sees them."""

    def answer(environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        path: str = environ["PATH_INFO"]
        if not path.startswith(CONTROL_PREFIX):
            return app(environ, start_response)
        body = environ["wsgi.input"].read()
        status, content = control(feedback, environ["REQUEST_METHOD"], path.removeprefix(CONTROL_PREFIX), body)
        return respond(
            Reply(status, [("Content-Type", "application/json")], [json.dumps(content).encode()]), start_response
        )

    return answer


def _raw_path(environ: Environ) -> str:
    return str(environ.get("RAW_URI", "")).partition("?")[0]


class Server(BaseApplication):
    """gunicorn with one worker: the suite asks the process that answers for its counters."""

    def load_config(self) -> None:
        settings = {
            "bind": f"127.0.0.1:{os.environ['PORT']}",
            "worker_class": "gthread",
            "threads": 32,
            # An idle connection would hold up the end of the process.
            "keepalive": 0,
            "graceful_timeout": 30,
            "timeout": 120,
            "loglevel": "warning",
            "control_socket_disable": True,
            "post_worker_init": lambda _worker: start.announce(),
            "worker_exit": lambda _server, worker: worker.pid == os.getpid() and shut_down(feedback),
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def load(self) -> Callable[..., Iterable[bytes]]:
        return controlled(feedback.wsgi(application))

    def run(self) -> None:
        PatientArbiter(self).run()


class Start:
    """The start of the worker, during which a SIGTERM waits: gunicorn would lose it."""

    def __init__(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self._reader, self._writer = os.pipe()

    def announce(self) -> None:
        """Tell the master, from the worker, that signals are handled now."""
        os.write(self._writer, b"1")
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def wait(self) -> None:
        """Wait in the master until the worker has announced it, or ended."""
        if self._writer:
            os.close(self._writer)
            self._writer = 0
            os.read(self._reader, 1)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})


class PatientArbiter(Arbiter):
    """gunicorn's master, which takes signals once its worker does."""

    def spawn_workers(self) -> None:
        super().spawn_workers()
        start.wait()


start = Start()

if __name__ == "__main__":
    Server().run()
