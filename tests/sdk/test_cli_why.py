"""The command line tells which rule left a response without an envelope, by the rules that the adapters follow."""

import json
from typing import Any

import pytest
from agent_feedback.agent import Page
from agent_feedback.cli.why import find_reasons
from agent_feedback.eligibility import index_headers

from tests.sdk.cli_product import CommandLine, serving_product
from tests.sdk.endpoint import Endpoint
from tests.sdk.site import JSON, make_app
from tests.sdk.vectors.cases import Case, read_cases


def page(headers: list[tuple[str, str]] | None = None, **changes: Any) -> Page:
    index = index_headers([("Content-Length", "2"), *([JSON] if headers is None else headers)])
    return Page(
        **{"url": "https://shop.example/orders", "status_code": 200, "headers": index, "content": b"{}", **changes}
    )


def rules(response: Page) -> list[str]:
    return [reason.rule for reason in find_reasons(response)]


@read_cases("eligibility")
def test_a_reason_is_given_exactly_where_the_vector_has_no_envelope(case: Case) -> None:
    headers = [(name, value) for name, value in case["input"]["headers"] if name != "Cache-Control"]
    found = set(rules(page(headers, status_code=case["input"]["status"])))
    assert bool(found & {"status", "range", "encoding", "type"}) == (case["expected"] is None)


@read_cases("cache", where=lambda case: case["input"]["cacheMode"] == "safe")
def test_the_cache_policy_is_the_reason_exactly_where_the_vector_has_it(case: Case) -> None:
    headers = [tuple(header) for header in case["input"]["headers"]]
    assert ("cache" in rules(page(headers))) == (not case["expected"]["hasEnvelope"])


@read_cases("paths", where=lambda case: case["input"]["include"] == ["/**"] and not case["input"]["exclude"])
def test_the_path_is_the_reason_exactly_where_the_vector_has_it(case: Case) -> None:
    url = f"https://shop.example{case['input']['path']}"
    assert ("path" in rules(page(url=url))) == (not case["expected"])


@pytest.mark.parametrize(
    ("response", "rule"),
    [
        (page(content=b"{" + b" " * 1024 * 1024 + b"}"), "size"),
        (page()._replace(headers={"content-type": "application/json"}), "size"),
        (page(content=b"{"), "body"),
        (page(content=b'{"_agentFeedback": null}'), "body"),
        (page(), "mode"),
        (page(content=b"[]"), "mode"),
        (page(content=b'{"a": %b}' % (b"9" * 5000)), "mode"),
    ],
    ids=["long", "stream", "no JSON", "own member", "nothing", "array", "many digits"],
)
def test_what_only_the_body_shows_is_told(response: Page, rule: str) -> None:
    assert rules(response) == [rule]


@pytest.mark.parametrize(
    ("app", "settings", "sentence"),
    [
        (make_app(status="404 Not Found"), {}, "the status is 404"),
        (make_app(headers=[("Content-Type", "text/plain")]), {}, "its type is text/plain"),
        (make_app(headers=[JSON, ("Cache-Control", "public")]), {}, "may store it (Cache-Control: public)"),
        (make_app(headers=[JSON, ("Content-Encoding", "gzip")]), {}, "it is compressed (gzip)"),
        (make_app(headers=[JSON, ("Location", "/")], status="302 Found"), {}, "the status is 302, to /"),
        (make_app(), {"mode": "off"}, "or its mode is off"),
    ],
)  # fmt: skip
def test_a_response_without_an_envelope_can_be_asked_why(
    endpoint: Endpoint,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    app: Any,
    settings: dict[str, Any],
    sentence: str,
) -> None:
    with serving_product(endpoint, app, **settings) as url:
        command_line = CommandLine(capsys, monkeypatch)
        result = command_line.run("agent", "show", url, "--why")
        without_why = command_line.run("agent", "show", url)
        as_json = command_line.run("agent", "show", url, "--why", "--json")
    assert (result.code, without_why.code, as_json.code) == (4, 4, 4)
    assert sentence in result.output
    assert sentence not in without_why.output
    assert "--why tells which rule" in without_why.output
    assert sentence in json.loads(as_json.output)["why"][0]["sentence"]
