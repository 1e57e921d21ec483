"""Pages: the id of somebody else's row works for nobody, whatever their role."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts.models import LoginSession
from app.accounts.rules import MEMBER, ROLES
from app.accounts.users import create_user
from app.blueprints import PAGE_MOUNTS
from app.core.database import session, transaction
from tests.dashboard.browser import fields
from tests.factories import Company, create_company, sign_in

PUBLIC = {"playground": "has its own demo company", "docs": "files", "dashboard": "static files"}


def routes_with_ids(app: Flask) -> list[tuple[str, str]]:
    """Return the rule and the method of every page that takes an id."""
    names = {mount.blueprint.name for mount in PAGE_MOUNTS} - PUBLIC.keys()
    return [
        (rule.rule, method)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.partition(".")[0] in names and rule.arguments
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def session_ids() -> set[str]:
    with transaction():
        return set(map(str, session().scalars(select(LoginSession.id))))


@pytest.mark.parametrize("role", ROLES)
def test_ids_of_others_are_not_found(app: Flask, client: FlaskClient, company: Company, role: str) -> None:
    with transaction():
        other_company = create_company()
        colleague = create_user(company.workspace_id, "colleague@example.com", role)
    for owner in (company, other_company):
        assert sign_in(app.test_client(), owner).status_code == 200
    foreign_ids = session_ids()
    credentials = {"email": "colleague@example.com", "password": colleague.password}
    assert client.post("/api/session", json=credentials).status_code == 200
    form = fields(client.get("/account"))
    routes = routes_with_ids(app)
    assert routes
    for rule, method in routes:
        for foreign_id in foreign_ids:
            response = client.open(re.sub(r"<[^>]*>", foreign_id, rule), method=method, data=form)
            # A member sends no form, whatever its id; a page about the user alone is theirs.
            statuses = {404, 403} if (role, method) == (MEMBER, "POST") else {404}
            assert response.status_code in statuses, (rule, response.status_code)
    assert foreign_ids < session_ids()
