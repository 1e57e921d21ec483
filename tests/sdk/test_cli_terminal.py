"""On a real terminal a person is asked, and only there."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import agent_feedback

from tests.sdk.cli_product import paths, serving_product
from tests.sdk.endpoint import Endpoint, Reply

SOURCE = str(Path(agent_feedback.__file__).parents[1])
COMMAND = [sys.executable, "-m", "agent_feedback", "agent", "report"]


def test_a_person_at_a_terminal_is_asked_and_heard(endpoint: Endpoint) -> None:
    endpoint.default_reply = Reply(200, b'{"interactionId": "i-1"}')
    parent_end, child_end = pty.openpty()
    environ = {**os.environ, "PYTHONPATH": SOURCE, "AGENT_FEEDBACK_URL": endpoint.url}
    with serving_product(endpoint) as url:
        words = [url, "--outcome", "success", "--note", "All twelve orders matched."]
        with subprocess.Popen(
            [*COMMAND, *words], env=environ, stdin=child_end, stderr=child_end, stdout=subprocess.PIPE
        ) as process:
            os.close(child_end)
            shown = b""
            while b"Send it? [y/N]" not in shown:
                shown += os.read(parent_end, 1024)
            assert not endpoint.requests
            os.write(parent_end, b"y\n")
            output, _ = process.communicate(timeout=20)
    os.close(parent_end)
    assert process.returncode == 0
    assert b"accepted, for the interaction i-1" in output
    assert paths(endpoint) == ["outcomes"]
