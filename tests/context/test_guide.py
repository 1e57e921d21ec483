"""`docs/customer-context.md` can be walked with a shell, more than once."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.serving import make_server

from tests.conftest import ROOT
from tests.factories import Company

GUIDE = (ROOT / "docs" / "customer-context.md").read_text()


@pytest.fixture
def base_url(app: Flask) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}"
    server.shutdown()
    thread.join()


def script() -> str:
    """Return the guide's commands, without its export of a key and the commands of the operator."""
    blocks = [block for block in re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL) if not block.startswith("flask ")]
    return "\n".join(re.sub(r"^export KEY=.*$", "", block, flags=re.MULTILINE) for block in blocks)


def test_the_guide_can_be_walked_twice(base_url: str, company: Company) -> None:
    variables = {**os.environ, "KEY": company.company_key, "BASE": base_url}
    for _ in range(2):
        walk = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script()],
            capture_output=True,
            text=True,
            timeout=240,
            env=variables,
            check=False,
        )
        assert (walk.returncode, walk.stderr if walk.returncode else "") == (0, "")
        assert '"code"' not in walk.stdout
        assert "declined" in walk.stdout.splitlines()
        assert '"items":[]' in walk.stdout
