"""Another machine: a web, a worker and a beat of its own on the stack's servers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from app.cli.dev.supervisor import Supervisor
from tests.conftest import ROOT
from tests.journeys.stack import Stack, free_port, url_answers, wait_until


@dataclass
class Tree:
    """The processes of one machine; none of them is restarted."""

    url: str
    environ: dict[str, str]
    supervisor: Supervisor
    log: Path

    def kill(self) -> None:
        """Kill every process and its children with SIGKILL at once."""
        for name in list(self.supervisor.processes):
            self.supervisor.stop(name)


@contextmanager
def running_tree(stack: Stack, folder: Path, **changes: str) -> Iterator[Tree]:
    """Run the processes of the Procfile with changed settings, and end them."""
    port, log = free_port(), folder / "processes.log"
    environ = {**stack.environ, "PORT": str(port), "AGENT_FEEDBACK_DATA_DIR": str(folder), **changes}
    with log.open("a") as output:
        lock = threading.Lock()

        def write(name: str, line: str) -> None:
            # What a killed process has left may be read after the log is closed.
            with lock, suppress(ValueError):
                output.write(f"{name:<6} | {line}\n")
                output.flush()

        tree = Tree(f"http://127.0.0.1:{port}", environ, Supervisor(environ, ROOT, write), log)
        try:
            for name, command in stack.commands.items():
                tree.supervisor.start(name, command)
            wait_until(lambda: url_answers(tree.url + "/healthz"), 30)
            yield tree
        finally:
            # At once: nothing of it is worth waiting for.
            tree.kill()
