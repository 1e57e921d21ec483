"""Pages: the id of somebody else's row works for nobody, whatever their role."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import Rule

from app.accounts.models import LoginSession
from app.accounts.rules import ROLES, may_change
from app.accounts.users import create_user, list_members
from app.blueprints import PAGE_MOUNTS
from app.core.database import session, transaction
from app.products.service import list_keys
from tests.dashboard.browser import fields
from tests.factories import Company, create_company, sign_in

PUBLIC = {
    "playground": "has its own demo company",
    "docs": "files",
    "dashboard": "static files",
    "invitation": "a link for anybody",
}


PERSONAL = {mount.blueprint.name for mount in PAGE_MOUNTS if getattr(mount.blueprint, "is_personal", False)}
"""Their forms take any role."""


def routes_with_ids(app: Flask) -> list[tuple[Rule, str]]:
    """Return the rule and the method of every page that takes an id."""
    names = {mount.blueprint.name for mount in PAGE_MOUNTS} - PUBLIC.keys()
    return [
        (rule, method)
        for rule in app.url_map.iter_rules()
        if rule.endpoint.partition(".")[0] in names and rule.arguments
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def session_ids() -> set[str]:
    with transaction():
        return set(map(str, session().scalars(select(LoginSession.id))))


def ids_of(company: Company) -> set[str]:
    """Return the ids of a company's product, environment, keys and owner."""
    with transaction():
        owner_ids = [member.user_id for member in list_members(company.workspace_id)]
        key_ids = [key.id for key in list_keys(company.environment_id)]
    return {*map(str, owner_ids), *key_ids, str(company.product_id), str(company.environment_id)}


@pytest.mark.parametrize("role", ROLES)
def test_ids_of_others_are_not_found(app: Flask, client: FlaskClient, company: Company, role: str) -> None:
    with transaction():
        other_company = create_company()
        colleague = create_user(company.workspace_id, "colleague@example.com", role)
    for owner in (company, other_company):
        assert sign_in(app.test_client(), owner).status_code == 200
    foreign_session_ids = session_ids()
    foreign_ids = foreign_session_ids | ids_of(other_company)
    credentials = {"email": "colleague@example.com", "password": colleague.password}
    assert client.post("/api/session", json=credentials).status_code == 200
    form = fields(client.get("/account"))
    routes = routes_with_ids(app)
    assert routes
    for rule, method in routes:
        for foreign_id in foreign_ids:
            response = client.open(re.sub(r"<[^>]*>", foreign_id, rule.rule), method=method, data=form)
            is_form_of_role = method == "POST" and rule.endpoint.partition(".")[0] not in PERSONAL
            statuses = {403, 404} if is_form_of_role and not may_change(role) else {404}
            assert response.status_code in statuses, (rule, response.status_code)
    assert foreign_session_ids < session_ids()
