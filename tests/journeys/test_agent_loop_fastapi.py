"""An agent uses a FastAPI application from PyPI under uvicorn, and says truthfully how it went."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from agent_feedback.agent import discover

from tests.conftest import ROOT
from tests.journeys.reviewing import (
    ASKING_MODES,
    FEEDBACK_MODES,
    Products,
    Task,
    companies_of_all_modes,
    decline,
    tell_truthfully,
)
from tests.journeys.stack import BIN, Stack, free_port, url_answers, wait_until

TASKS = [
    Task("/get?word=pear", lambda content: content["args"] == {"word": "pear"}),
    # httpbinx answers with a fixed slide show, whatever title is asked for.
    Task("/json?title=pear", lambda content: content["title"] == "pear"),
]


@pytest.fixture(scope="module")
def products(stack: Stack) -> Iterator[Products]:
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [BIN / "uvicorn", "--port", str(port), "--log-level", "warning", "tests.journeys.mounted_httpbinx:app"]
    with companies_of_all_modes(stack) as companies:
        environ = {
            **os.environ,
            "AGENT_FEEDBACK_URL": stack.url,
            "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'sdk/python/src'}",
            "PYTHONWARNINGS": "ignore",
        }
        with subprocess.Popen(command, env=environ, cwd=ROOT) as process:
            try:
                wait_until(lambda: url_answers(f"{url}/off/get"), 30)
                yield Products(stack, companies, url)
            finally:
                process.terminate()


@pytest.mark.parametrize("mode", FEEDBACK_MODES)
def test_an_agent_tells_truthfully_how_a_fastapi_application_did(products: Products, mode: str) -> None:
    tell_truthfully(products, mode, TASKS)


@pytest.mark.parametrize("mode", ASKING_MODES)
def test_what_the_user_declines_is_not_sent(products: Products, mode: str) -> None:
    decline(products, mode, TASKS[0])


def test_a_fastapi_application_that_wants_nothing_gets_nothing(products: Products) -> None:
    response = products.get("off", TASKS[0].path)
    assert TASKS[0].judge(response.json())
    assert discover(response, allowed_origins=[products.stack.url]) is None
