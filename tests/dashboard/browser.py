"""Reading and sending the forms of pages without a browser."""

import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.factories import Company

TOKEN = "csrf_token"


def fields(page: TestResponse) -> dict[str, str]:
    """Return the hidden fields of a page's form."""
    return {
        name: unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page.text)
    }


def sign_in_by_form(client: FlaskClient, company: Company, path: str = "/sign-in", **changes: Any) -> TestResponse:
    """Open the sign-in page and send its form."""
    form = {**fields(client.get(path)), "email": company.email, "password": company.password}
    values = {name: value for name, value in {**form, **changes}.items() if value is not None}
    return client.post("/sign-in", data=values)


def send(client: FlaskClient, path: str, page: str = "/account", **values: str) -> TestResponse:
    """Send a form with the token of a page."""
    return client.post(path, data={"csrf_token": fields(client.get(page))["csrf_token"], **values})
