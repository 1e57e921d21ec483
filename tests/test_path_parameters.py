"""Hostile text in every string parameter of every path."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.blueprints import API_MOUNTS, PAGE_MOUNTS
from tests.factories import Company, bearer, sign_in

HOSTILE = {"a NUL": "%00.x", "half a surrogate": "%ED%A0%80.x", "10,000 characters": "x" * 10_000}


def string_paths(app: Flask) -> list[tuple[str, str]]:
    """Return (method, path with `{}` in place of its parameter) of each path that has a parameter of type string."""
    blueprints = {mount.blueprint.name for mount in (*API_MOUNTS, *PAGE_MOUNTS)}
    return [
        (method, re.sub(r"<(?:string:|path:)?\w+>", "{}", rule.rule))
        for rule in app.url_map.iter_rules()
        if rule.endpoint.partition(".")[0] in blueprints and re.search(r"<(?:string:|path:)?\w+>", rule.rule)
        for method in sorted(rule.methods or ())
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_in_a_path_is_a_server_error(app: Flask, client: FlaskClient, company: Company, name: str) -> None:
    sign_in(client, company)
    paths = string_paths(app)
    assert ("DELETE", "/api/v2/enrichment/fields/{}") in paths
    field = {"label": "Preferred pace", "type": "preference", "allowedValues": ["slow"]}
    failures = []
    for method, path in paths:
        # Whatever is left in a path beside the string is a UUID that names nothing.
        url = re.sub(r"<uuid:\w+>", "018f1f2e-7b4a-4c12-9c8d-123456789abc", path).format(*[HOSTILE[name]] * 3)
        for token in (company.company_key, company.product_key, company.capability()):
            body = field if method in ("PUT", "POST") else None
            response = client.open(url, method=method, json=body, headers=bearer(token))
            if response.status_code >= 500:
                failures.append(f"{method} {path}: {response.status_code}")
    assert failures == []


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_field_key_in_a_path_is_checked_like_a_member_of_a_body(
    client: FlaskClient, company: Company, name: str, method: str
) -> None:
    field = {"label": "Preferred pace", "type": "preference", "allowedValues": ["slow"]}
    url = f"/api/v2/enrichment/fields/{HOSTILE[name]}"
    headers = bearer(company.company_key)
    response = client.open(url, method=method, json=field if method == "PUT" else None, headers=headers)
    assert response.status_code == 422
    assert response.json
    assert [problem["pointer"] for problem in response.json["errors"]] == ["/key"]
