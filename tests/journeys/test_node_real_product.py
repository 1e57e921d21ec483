"""json-server from npm, which we did not write, with the Node SDK in one line: used and reviewed by an agent."""

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests

from tests.factories import Company
from tests.journeys.node import NodeProject, product_variables
from tests.journeys.stack import Stack, wait_until

CODE = """
import { createServer } from 'node:http';
import jsonServer from 'json-server';
import { AgentFeedback } from 'agent-feedback';

const orders = [{ id: 42, item: 'boots' }, { id: 43, item: 'sandals' }];
const app = jsonServer.create();
app.use(jsonServer.defaults({ logger: false }), jsonServer.router({ orders }));
createServer(app).listen(3000);
"""

# Its pages are `public, max-age=0`, which the default leaves to the caches that may share them.
FEEDBACK = "new AgentFeedback({ cacheMode: 'private' })"
APP, SERVER = "const app = jsonServer.create();\n", "createServer(app)"
WRAPPED = {
    "express": CODE.replace(APP, f"{APP}app.use({FEEDBACK}.express());\n"),
    "http": CODE.replace(SERVER, f"createServer({FEEDBACK}.http(app))"),
}
"""The product with one more line, or one more call."""

UNTOUCHED_REQUESTS = {
    "a missing order": ["GET /orders/7 HTTP/1.1"],
    "a missing page": ["GET /missing.html HTTP/1.1"],
    "a style sheet": ["GET /style.css HTTP/1.1"],
    "a style sheet as a compressed stream": ["GET /style.css HTTP/1.1", "Accept-Encoding: gzip"],
    "an icon": ["GET /favicon.ico HTTP/1.1"],
    "a part of a script": ["GET /script.js HTTP/1.1", "Range: bytes=10-99"],
    "a page that has not changed": ["GET / HTTP/1.1", "If-Modified-Since: Fri, 01 Jan 2100 00:00:00 GMT"],
    "a preflight request": ["OPTIONS /orders HTTP/1.1", "Access-Control-Request-Method: POST"],
}
"""The first line and headers of requests whose responses carry nothing."""


@dataclass(frozen=True)
class Visit:
    """What an agent fetches, how it was asked, and what came of it."""

    path: str
    place: str
    surface: str
    operation: str
    outcome: str
    note: str


VISITS = [
    Visit("/orders/42", "json", "http_json", "/orders/:id", "success", "Order 42 was there, with its item."),
    Visit("/orders?item=hats", "header", "http_headers", "/orders", "failure", "No order has a hat as its item."),
    Visit("/", "html", "http_html", "/", "partial", "The page named itself but showed no order in its markup."),
]


@pytest.fixture(params=WRAPPED)
def product(request: pytest.FixtureRequest, stack: Stack, node_project: NodeProject) -> Iterator[tuple[str, Company]]:
    """Run json-server with the SDK around it; yields its URL and its company."""
    company = stack.create_company()
    with node_project.running_product(WRAPPED[request.param], product_variables(stack, company)) as url:
        yield url, company


def test_an_agent_reviews_what_it_got(stack: Stack, node_project: NodeProject, product: tuple[str, Company]) -> None:
    url, company = product
    allowed = ("--allow-origin", stack.url)
    for visit in VISITS:
        judge(visit, requests.get(url + visit.path, timeout=10))
        seen = json.loads(node_project.command("agent", "show", url + visit.path, *allowed, "--json"))
        assert (seen["place"], seen["state"]) == (visit.place, "feedback_ready")
        review = ("--outcome", visit.outcome, "--note", visit.note, "--yes")
        node_project.command("agent", "report", url + visit.path, *allowed, *review)
    summary = "The filter by item answered at once, with an empty list."
    finding = ("--finding", "strength", "filters", "An item that no order has gives an empty list.")
    report = ("--summary", summary, "--impact", "helped", *finding, "--yes", "--json")
    answer = json.loads(node_project.command("agent", "report", f"{url}/orders?item=hats", *allowed, *report))
    assert answer["accepted"]
    reports = stack.query("SELECT summary FROM reports WHERE environment_id = %s", str(company.environment_id))
    assert reports == [(summary,)]
    expected = {(visit.surface, visit.operation, visit.outcome, visit.note) for visit in VISITS}
    wait_until(lambda: set(reviews(stack, company)) == expected, 20)
    assert len(reviews(stack, company)) == len(VISITS)


def judge(visit: Visit, response: requests.Response) -> None:
    """Make sure that the review is true."""
    assert response.status_code == 200
    if visit.place == "json":
        content = response.json()
        assert content.pop("_agentFeedback")
        assert content == {"id": 42, "item": "boots"}
    elif visit.place == "header":
        assert response.json() == []
    else:
        assert "<title>JSON Server</title>" in response.text
        assert "boots" not in response.text


def reviews(stack: Stack, company: Company) -> list[tuple[Any, ...]]:
    """Return the reviews of a company, with what the telemetry of their interactions says."""
    query = """SELECT i.surface, i.operation, r.outcome, r.note FROM reviews r
        JOIN interactions i ON i.environment_id = r.environment_id AND i.id = r.interaction_id
        WHERE r.environment_id = %s AND i.classification = 'confirmed'"""
    return stack.query(query, str(company.environment_id))


@pytest.mark.parametrize("product", ["express"], indirect=True)
def test_the_doctor_finds_it_healthy(stack: Stack, node_project: NodeProject, product: tuple[str, Company]) -> None:
    url, company = product
    environment = ("--environment", str(company.environment_id))
    read_key = stack.flask("key", "create", *environment, "--kind", "read")["key"]
    variables = {**product_variables(stack, company), "AGENT_FEEDBACK_READ_KEY": read_key}
    doctor = ("npx", "--no", "--", "agent-feedback", "doctor", f"{url}/orders/42", "--json")
    findings = json.loads(node_project.run(*doctor, **variables))
    assert {finding["status"] for finding in findings} == {"PASS"}, findings
    assert findings[-1]["check"] == "telemetry"


def test_what_is_not_eligible_leaves_byte_for_byte(node_project: NodeProject, product: tuple[str, Company]) -> None:
    url, _ = product
    with node_project.running_product(CODE, {}) as bare_url:
        for name, lines in UNTOUCHED_REQUESTS.items():
            assert fetch_bytes(url, lines) == fetch_bytes(bare_url, lines), name
        lines = ["GET /orders/42 HTTP/1.1"]
        assert fetch_bytes(url, lines) != fetch_bytes(bare_url, lines)


def fetch_bytes(url: str, lines: list[str]) -> bytes:
    """Return a response as it is on the wire, but for the time."""
    port = urlsplit(url).port
    assert port
    with socket.create_connection(("localhost", port), timeout=10) as connection:
        connection.sendall("\r\n".join([*lines, "Host: shop.example", "Connection: close", "", ""]).encode())
        content = b"".join(iter(lambda: connection.recv(65536), b""))
    assert content.startswith(b"HTTP/1.1 ")
    return re.sub(rb"\r\nDate: [^\r]*", b"", content)
