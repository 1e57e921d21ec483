"""The page of the API description, and that no answer has a link made from the Host header."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.dashboard.pages import CONTENT_POLICY, PAGE_HEADERS
from tests.factories import Company, sign_in

FORGED = "evil.example"
HEADERS = {
    "Host": FORGED,
    "X-Forwarded-Host": FORGED,
    "X-Forwarded-Server": FORGED,
    "Forwarded": f"host={FORGED}",
    "Accept": "text/html",
}


def test_the_page_of_the_description_has_the_headers_of_pages(client: FlaskClient) -> None:
    for path in ("/docs/", "/docs", "/docs/swagger-ui.css", "/docs/index.css"):
        with client.get(path) as answer:
            for name, value in PAGE_HEADERS.items():
                assert answer.headers[name].startswith(value) or name == "Cache-Control", (path, name)
    page = client.get("/docs/")
    assert page.headers["Cache-Control"] == PAGE_HEADERS["Cache-Control"]
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert re.findall(r"<script(?![^>]* src=)|<style|\son\w+=|style=", page.text) == []


def test_only_the_page_of_the_description_takes_more_than_other_pages(client: FlaskClient) -> None:
    policy = client.get("/docs/").headers["Content-Security-Policy"]
    assert policy == f"{CONTENT_POLICY}; img-src 'self' data:; connect-src 'self' http://127.0.0.1:8000"


@pytest.mark.parametrize("path", ["/docs/../wsgi.py", "/docs/%2e%2e/__init__.py", "/docs/nothing", "/docs//etc/passwd"])
def test_only_the_files_of_the_page_are_served(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 404


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_no_answer_repeats_a_forged_host(app: Flask, company: Company, *, is_signed_in: bool) -> None:
    client = app.test_client()
    if is_signed_in:
        sign_in(client, company, base_url=f"http://{FORGED}")
    paths = {re.sub(r"<[^>]*>", "x", rule.rule) for rule in app.url_map.iter_rules()}
    assert {"/docs/", "/", "/sign-in", "/openapi.json"} <= paths
    for path in sorted(paths):
        for variant in (path, f"{path}/", path.rstrip("/") or "/", f"/{path}", path.replace("/", "//")):
            for method in ("GET", "POST"):
                with client.open(variant, method=method, headers=HEADERS, base_url=f"http://{FORGED}") as answer:
                    assert FORGED not in answer.text, (method, variant)
                    assert FORGED not in str(answer.headers), (method, variant)


def test_no_rule_redirects_to_itself_with_a_slash(app: Flask, client: FlaskClient) -> None:
    rules = [rule for rule in app.url_map.iter_rules() if rule.rule.endswith("/")]
    assert {rule.rule for rule in rules} == {"/", "/docs/"}
    assert not any(rule.strict_slashes for rule in rules)
    assert not app.url_map.merge_slashes
    # A request line may name a host and no path.
    assert client.get("/sign-in", environ_overrides={"PATH_INFO": ""}).location == "/sign-in"


@pytest.mark.parametrize("path", ["/", "/sign-in", "/docs/", "/docs/swagger-ui.css", "/static/style.css", "/nothing"])
def test_production_lets_browsers_come_by_https_only(client: FlaskClient, production: Flask, path: str) -> None:
    with production.test_client().get(path, headers={"Accept": "text/html"}) as answer:
        max_age = re.fullmatch(r"max-age=(\d+)", answer.headers["Strict-Transport-Security"])
    assert max_age
    assert int(max_age[1]) >= 180 * 24 * 60 * 60
    with client.get(path, headers={"Accept": "text/html"}) as answer:
        assert "Strict-Transport-Security" not in answer.headers


def test_a_copy_that_is_reached_by_http_does_not_ask_for_https(
    production: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = replace(production.extensions["settings"], feedback_url="http://feedback.example")
    monkeypatch.setitem(production.extensions, "settings", plain)
    assert "Strict-Transport-Security" not in production.test_client().get("/sign-in").headers
