"""The text that `bin/dev` prints once the service runs: at most 80 columns, except for keys and paths."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from app.cli.dev.demo import CREDENTIALS_FILE, SAMPLE_WORKSPACE
from app.interactions.ids import new_interaction_id

ROOT = Path(__file__).resolve().parents[3]


def banner(credentials: dict[str, Any], data_dir: Path) -> str:
    """Return the addresses, the demo credentials, and a first request to paste."""
    base_url, login, interaction_id = credentials["baseUrl"], credentials["dashboard"], new_interaction_id()
    is_default = data_dir == ROOT / ".data"
    folder = ".data" if is_default else str(data_dir)
    data_dir_export = "" if is_default else f"  export AGENT_FEEDBACK_DATA_DIR='{data_dir}'\n"
    return f"""
  dashboard    {base_url}/
  playground   {base_url}/playground
  API          {base_url}/docs
  login        {login["email"]}
  password     {login["password"]}
  product      {credentials["productId"]}
  environment  {credentials["environmentId"]}
  sample data  a fortnight of it, in the workspace {SAMPLE_WORKSPACE}

  product key
  {credentials["productKey"]}

  company key
  {credentials["companyKey"]}

  all of it    {folder}/{CREDENTIALS_FILE}
  full log     {folder}/processes.log

Send a first telemetry event, from the checkout:

  KEY=$(grep -o 'af_live_[^"]*' '{folder}/{CREDENTIALS_FILE}')
  curl {base_url}/api/v2/telemetry/batches \\
    -H "Authorization: Bearer $KEY" -d '{_first_batch(str(interaction_id))}'

{_lookup_commands(str(interaction_id), credentials["environmentId"], data_dir_export)}
Agent Feedback runs at {base_url}/ until Ctrl-C.
Each review that arrives is a line below.
"""


def _lookup_commands(interaction_id: str, environment_id: str, data_dir_export: str) -> str:
    return f"""Look at what is stored, and at what agents said:

{data_dir_export}  .venv/bin/flask interaction show {interaction_id} \\
    --environment {environment_id}
  .venv/bin/flask review list
"""


def _first_batch(interaction_id: str) -> str:
    event = {
        "interactionId": interaction_id,
        "surface": "http_json",
        "operation": "/orders/:id",
        "classification": "unclassified",
        "occurredAt": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    members = ",\n      ".join(f'"{name}": {json.dumps(value)}' for name, value in event.items())
    return '{"events": [{\n      ' + members + "}]}"
