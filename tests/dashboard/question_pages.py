"""The pages of questions, as a user's browser reads and sends them."""

import json
import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.dashboard.browser import fields, send

QUESTION = {
    "key": "trip.pace",
    "label": "Preferred pace",
    "type": "customer_goal",
    "allowed_values": "slow\r\nfast\r\n",
    "operations": "",
    "enabled": "y",
}


def add(client: FlaskClient, **changes: str) -> TestResponse:
    return send(client, "/questions/new", **{**QUESTION, **changes})


def change(client: FlaskClient, key: str = "trip.pace", **changes: str) -> TestResponse:
    path = f"/questions/fields/{key}"
    form = fields(client.get(path))
    return client.post(path, data={**QUESTION, **form, **changes})


def row(page: str, key: str) -> list[str]:
    """Return the cells of the table row of a question, as text."""
    text = next(part for part in re.findall(r"<tr>.*?</tr>", page, re.S) if f"<code>{key}</code>" in part)
    return [" ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split()) for cell in re.split(r"</t[hd]>", text)]


def shown_json(page: str) -> Any:
    """Return the JSON that a page shows."""
    return json.loads(unescape(re.findall(r"<pre[^>]*>(.*?)</pre>", page, re.S)[-1]))
