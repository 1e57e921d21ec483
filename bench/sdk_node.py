"""What the Node SDK adds to a response of 2 KiB and to the start of a process; its telemetry goes to the service."""

import json
import os
import subprocess
from typing import NamedTuple

from tests.conftest import ROOT
from tests.journeys.stack import Stack

RESPONSE_TARGET_US = 100.0
IMPORT_TARGET_US = 30_000.0
TIMEOUT_S = 120


class NodeOverhead(NamedTuple):
    """Processor time in microseconds."""

    response_us: float
    import_us: float


def measure(stack: Stack) -> NodeOverhead:
    """Return what the SDK adds, as its own program measures it."""
    variables = {"AGENT_FEEDBACK_KEY": stack.company.product_key, "AGENT_FEEDBACK_URL": stack.url}
    process = subprocess.run(
        ["node", "bench/overhead.js"],
        cwd=ROOT / "sdk" / "node",
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        timeout=TIMEOUT_S,
        check=True,
    )
    measured = json.loads(process.stdout)
    return NodeOverhead(measured["addedUs"], measured["importMs"] * 1e3)
