"""Every endpoint takes its own kind of credential and no other."""

import itertools

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from app.blueprints import API_MOUNTS, PROTOCOL_MOUNTS
from app.core.database import transaction
from app.products import service as products
from tests.factories import bearer, sign_in
from tests.isolation.companies import create_tenant

PATH_VALUES = {"key": "shop.favourite_colour", "product_id": "6f1f2f0e-6a1e-4f2a-9c53-0d6a3e5d9b11", "name": "x.whl"}
PATH_VALUES |= dict.fromkeys(("report_id", "interaction_id"), PATH_VALUES["product_id"])


def guarded_rules(app: Flask) -> list[tuple[Rule, str, str]]:
    """Return every guarded endpoint of the API: its rule, a method and the name of its guard."""
    guards = {mount.blueprint.name: mount.guard.name for mount in (*API_MOUNTS, *PROTOCOL_MOUNTS)}
    rules = [(rule, guards.get(rule.endpoint.partition(".")[0], "public")) for rule in app.url_map.iter_rules()]
    return [
        (rule, method, guard)
        for rule, guard in rules
        if guard not in ("public", "ownOrigin")
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def path_of(app: Flask, rule: Rule) -> str:
    values = {name: PATH_VALUES[name] for name in rule.arguments}
    with app.test_request_context():
        return app.url_map.bind("localhost").build(rule.endpoint, values)


def test_no_credential_opens_another_guard(app: Flask, client: FlaskClient) -> None:
    tenant = create_tenant(client, "shop.favourite_colour")
    credentials = {**tenant.credentials(), "nothing": None, "garbage": "afr2_garbage"}
    rules = guarded_rules(app)
    assert len(rules) > 15
    statuses = {}
    for (rule, method, guard), (name, token) in itertools.product(rules, credentials.items()):
        headers = bearer(token) if token else {}
        response = client.open(path_of(app, rule), method=method, json={}, headers=headers)
        if name != guard:
            statuses[rule.rule, method, name] = response.status_code
        else:
            assert response.status_code not in (401, 403), (rule.rule, response.text)
    assert {key: status for key, status in statuses.items() if status != 401} == {}


def test_a_session_opens_no_endpoint_of_agents_and_backends(app: Flask, client: FlaskClient) -> None:
    tenant = create_tenant(client, "shop.favourite_colour")
    assert sign_in(client, tenant.company).status_code == 200
    for rule, method, guard in guarded_rules(app):
        response = client.open(path_of(app, rule), method=method, json={}, headers={"Origin": "https://other.example"})
        expected = (401,) if guard != "dashboardSession" else (200, 204, 400, 403, 404, 422)
        assert response.status_code in expected, (rule.rule, response.text)


@pytest.mark.parametrize("kind", ["productKey", "companyKey", "readKey"])
def test_a_revoked_key_opens_nothing(app: Flask, client: FlaskClient, kind: str) -> None:
    tenant = create_tenant(client, "shop.favourite_colour")
    token = tenant.credentials()[kind]
    with transaction():
        products.revoke_key(token.split("_")[2])
    app.extensions["key_cache"].clear()
    for rule, method, guard in guarded_rules(app):
        if guard == kind:
            response = client.open(path_of(app, rule), method=method, json={}, headers=bearer(token))
            assert response.status_code == 401, rule.rule
