"""Running the product of the journeys."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.conftest import ROOT
from tests.journeys.stack import BIN, free_port, wait_until


@contextmanager
def running_product(
    service_url: str,
    key: str,
    mode: str = "never_ask",
    app: str = "tests.journeys.product:app",
    company_key: str = "",
) -> Iterator[str]:
    """Run a product with the adapter under gunicorn, httpbin unless told otherwise; yields its URL."""
    port = free_port()
    environ = {
        **os.environ,
        "AGENT_FEEDBACK_KEY": key,
        "AGENT_FEEDBACK_URL": service_url,
        "AGENT_FEEDBACK_MODE": mode,
        "AGENT_FEEDBACK_COMPANY_KEY": company_key,
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'sdk/python/src'}",
        "PYTHONWARNINGS": "ignore",
    }
    command = [BIN / "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2", "--threads", "2"]
    command += ["--no-control-socket", "--log-level", "warning", app]
    with subprocess.Popen(command, env=environ, cwd=ROOT) as process:
        try:
            wait_until(lambda: is_open(port), 20)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
