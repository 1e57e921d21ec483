"""Pages: the id of somebody else's row works for nobody, whatever their role, in paths, parameters and forms."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.accounts.rules import ROLES, may_change
from app.accounts.users import create_user
from app.core.database import transaction
from app.dashboard.set_up import STOP_POLLING
from tests.factories import SESSION_COOKIE, event, send_events, sign_in
from tests.isolation.companies import stored_rows
from tests.isolation.page_routes import (
    PERSONAL,
    all_ids,
    create_filled_tenant,
    everything_stored,
    is_about_a_row,
    page_rules,
    paths,
    token,
)

FILTERS = (
    *("q", "operation", "name", "topic", "ref", "customer_ref", "variant", "baseline"),
    *("actor", "subject", "from", "framework", "done"),
)
"""Parameters of pages that take a text."""

ELSEWHERE = "//evil.example"


@pytest.mark.parametrize("role", ROLES)
def test_ids_of_others_are_not_found(app: Flask, client: FlaskClient, role: str) -> None:
    other, foreign_ids = create_filled_tenant(client, "shop.secret")
    tenant, _ = create_filled_tenant(client, "shop.own")
    with transaction():
        colleague = create_user(tenant.company.workspace_id, "colleague@example.com", role)
    credentials = {"email": "colleague@example.com", "password": colleague.password}
    assert sign_in(client, tenant.company, json=credentials).status_code == 200
    form = {"csrf_token": token(client)}
    ids, before = all_ids(other, foreign_ids), stored_rows(other)
    routes = [(rule, method) for method in ("GET", "POST") for rule in page_rules(app, method) if is_about_a_row(rule)]
    assert len(routes) > 25
    for rule, method in routes:
        # A row of another kind must not be found either.
        for foreign_id in (foreign_ids["environment_id"], foreign_ids["user_id"], None):
            substitutes = {name: foreign_id or value for name, value in foreign_ids.items()}
            for path in paths(rule, substitutes):
                response = client.open(path, method=method, data=form)
                is_form_of_role = method == "POST" and rule.endpoint.partition(".")[0] not in PERSONAL
                statuses = {403, 404} if is_form_of_role and not may_change(role) else {404}
                assert response.status_code in statuses, (path, response.status_code)
                assert [id_ for id_ in ids if id_ in response.text] == [], path
    assert stored_rows(other) == before


def test_own_ids_are_found(app: Flask, client: FlaskClient) -> None:
    _, own_ids = create_filled_tenant(client, "shop.own")
    statuses = {path: client.get(path).status_code for rule in page_rules(app, "GET") for path in paths(rule, own_ids)}
    # These are named by parameters.
    nameless = {"/operations/operation", "/sessions/one", "/sessions/one/export.csv", "/sessions/one/export.ndjson"}
    assert {path for path, status in statuses.items() if status not in (200, STOP_POLLING)} == nameless


def test_no_parameter_shows_a_row_of_others(app: Flask, client: FlaskClient) -> None:
    other, foreign_ids = create_filled_tenant(client, "shop.secret")
    details = {"operation": "/secret", "sessionRef": "secret_visit", "customerRef": "secret_customer"}
    assert send_events(client, other.company, event(**details)).status_code == 202
    tenant, own_ids = create_filled_tenant(client, "shop.own")
    assert sign_in(client, tenant.company).status_code == 200
    ids = all_ids(other, foreign_ids)
    texts = [*details.values(), foreign_ids["key"], foreign_ids["interaction_id"], foreign_ids["user_id"]]
    for rule in page_rules(app, "GET"):
        for path in paths(rule, own_ids):
            scope = {"environment": foreign_ids["environment_id"]}
            assert client.get(path, query_string=scope).status_code == 404, path
            for text in texts if not is_about_a_row(rule) else ():
                response = client.get(path, query_string=dict.fromkeys(FILTERS, text) | {"source": "customer"})
                assert response.status_code in (200, STOP_POLLING, 404, 422), path
                assert [id_ for id_ in ids - {text} if id_ in response.text] == [], (path, text)


def test_no_form_takes_a_row_of_others_or_leads_elsewhere(app: Flask, client: FlaskClient) -> None:
    other, foreign_ids = create_filled_tenant(client, "shop.secret")
    tenant, own_ids = create_filled_tenant(client, "shop.own")
    ids, before = all_ids(other, foreign_ids), stored_rows(other)
    form = {"assignee": foreign_ids["user_id"], "environment": foreign_ids["environment_id"], **foreign_ids}
    form |= {"item": f"review:{foreign_ids['interaction_id']}"}
    form |= {"workspace": str(other.company.workspace_id), "state": "resolved", "next": ELSEWHERE}
    redirects = 0
    for rule in page_rules(app, "POST"):
        for path in paths(rule, own_ids):
            assert sign_in(client, tenant.company).status_code == 200
            query = {"next": ELSEWHERE, "done": ELSEWHERE, "days": "7"}
            response = client.post(path, data=form | {"csrf_token": token(client)}, query_string=query)
            assert response.status_code < 500, path
            location = response.headers.get("Location", "/")
            assert location.startswith("/"), path
            assert "evil" not in location, path
            redirects += "Location" in response.headers
            assert [id_ for id_ in ids - {foreign_ids["key"]} if id_ in response.text] == [], path
    assert redirects > 5
    assert stored_rows(other) == before
    assert [id_ for id_ in ids if id_ in str(stored_rows(tenant))] == []


def test_a_page_changes_nothing_and_has_its_headers(app: Flask, client: FlaskClient) -> None:
    _, own_ids = create_filled_tenant(client, "shop.own")
    before = everything_stored()
    all_paths = [path for rule in page_rules(app, "GET") for path in paths(rule, own_ids)]
    assert len(all_paths) > 40
    for path in [*all_paths, *all_paths]:
        response = client.get(path)
        # An export reads while it is sent.
        assert response.get_data() or response.status_code == 303, path
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy, path
        assert "unsafe" not in policy, path
        assert "no-store" in response.headers["Cache-Control"], path
        assert response.headers["X-Content-Type-Options"] == "nosniff", path
        assert response.headers["X-Frame-Options"] == "DENY", path
    assert everything_stored() == before


def session_cookie(client: FlaskClient) -> str:
    cookie = client.get_cookie(SESSION_COOKIE)
    assert cookie
    return cookie.value


def test_a_session_that_somebody_else_chose_is_not_taken_over(app: Flask, client: FlaskClient) -> None:
    thief = app.test_client()
    create_filled_tenant(thief, "shop.own")
    other, _ = create_filled_tenant(app.test_client(), "shop.secret")
    for token_of_thief in (session_cookie(thief), "A" * 43):
        client.set_cookie(SESSION_COOKIE, token_of_thief)
        assert sign_in(client, other.company).status_code == 200
        assert session_cookie(client) != token_of_thief
        assert str(other.company.environment_id) in client.get("/").text
        assert str(other.company.environment_id) not in thief.get("/").text
