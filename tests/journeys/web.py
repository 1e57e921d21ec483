"""Another web process on the stack's servers, with settings of its own."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.conftest import ROOT
from tests.journeys.stack import Stack, free_port, url_answers, wait_until


@dataclass(frozen=True)
class Web:
    """A running gunicorn with its workers."""

    url: str
    process: "subprocess.Popen[bytes]"


@contextmanager
def running_web(stack: Stack, **changes: str) -> Iterator[Web]:
    """Run the web process of the Procfile with changed settings."""
    port = free_port()
    environ = {**stack.environ, "PORT": str(port), **changes}
    log = stack.log.with_name(f"web-{port}.log")
    with (
        log.open("wb") as output,
        subprocess.Popen(stack.commands["web"], env=environ, cwd=ROOT, stderr=output) as process,
    ):
        web = Web(f"http://127.0.0.1:{port}", process)
        try:
            wait_until(lambda: url_answers(web.url + "/healthz"), 30)
            yield web
        finally:
            # At once: no client of a test is worth waiting for.
            process.send_signal(signal.SIGQUIT)
