"""The README's block for `bin/dev` does what it says."""

import json
import re
import subprocess
from pathlib import Path

from tests.conftest import ROOT
from tests.journeys.stack import BIN, Stack


def test_the_readmes_block_sends_telemetry_and_a_review_and_shows_them(stack: Stack) -> None:
    (block,) = re.findall(
        r"<!-- runs in tests/cli/test_readme.py -->\n```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    path = Path(stack.environ["AGENT_FEEDBACK_DATA_DIR"]) / "credentials.json"
    credentials = {
        "baseUrl": stack.url,
        "productKey": stack.company.product_key,
        "environmentId": str(stack.company.environment_id),
    }
    path.write_text(json.dumps(credentials))
    script = block.replace(".data/credentials.json", str(path)).replace(".venv/bin/", f"'{BIN}'/")
    try:
        result = subprocess.run(
            ["bash", "-euc", script],
            env=stack.environ,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    finally:
        path.unlink()
    assert '"accepted":1' in result.stdout
    assert re.search(r"classification +confirmed", result.stdout)
    assert re.search(r"note +All twelve orders matched what was asked for\.", result.stdout)
