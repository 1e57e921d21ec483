"""Who may read `/metrics`."""

from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app import create_app
from config.observability import MetricsAccess
from config.settings import Settings
from tests.factories import TEST_URL, bearer
from tests.metrics.scrape import PORT, TOKEN

METRICS_URL = f"http://127.0.0.1:{PORT}"
NOBODY_S_PATH = "/nobody-s-path"


def client_of(settings: Settings, access: MetricsAccess | None) -> FlaskClient:
    return create_app(replace(settings, metrics=access)).test_client()


def answer(client: FlaskClient, path: str) -> tuple[int, object, object]:
    response = client.get(path, base_url=TEST_URL)
    return response.status_code, response.content_type, {**(response.json or {}), "requestId": None}


@pytest.mark.parametrize("access", [None, MetricsAccess(PORT, None)])
def test_without_a_token_the_address_is_unknown_on_the_port_of_the_service(
    app: Flask, settings: Settings, access: MetricsAccess | None
) -> None:
    client = client_of(settings, access)
    assert answer(client, "/metrics") == answer(client, NOBODY_S_PATH)
    assert answer(client, "/metrics")[0] == 404


def test_the_port_of_its_own_needs_no_token_and_serves_nothing_else(app: Flask, settings: Settings) -> None:
    client = client_of(settings, MetricsAccess(PORT, None))
    response = client.get("/metrics", base_url=METRICS_URL)
    assert (response.status_code, response.content_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert response.headers["Cache-Control"] == "no-store"
    for path in ("/healthz", "/sign-in", "/api/v2/outcomes"):
        assert client.get(path, base_url=METRICS_URL).status_code == 404


def test_the_service_s_own_port_is_closed_to_whoever_forges_the_host(app: Flask, settings: Settings) -> None:
    client = client_of(settings, MetricsAccess(PORT, None))
    assert client.get("/metrics", base_url=TEST_URL, headers={"Host": f"127.0.0.1:{PORT}"}).status_code == 404


@pytest.mark.parametrize("token", ["", "wrong", TOKEN[:-1], TOKEN + "0"])
def test_a_wrong_token_is_refused(open_client: FlaskClient, token: str) -> None:
    headers = bearer(token) if token else {}
    response = open_client.get("/metrics", headers=headers)
    assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
    assert "agent_feedback" not in response.text


def test_the_token_opens_it_on_the_port_of_the_service(open_client: FlaskClient) -> None:
    response = open_client.get("/metrics", headers=bearer(TOKEN))
    assert response.status_code == 200
    assert "agent_feedback_build_info" in response.text
