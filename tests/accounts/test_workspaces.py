"""A user who belongs to several workspaces: switching, and where signing in leads."""

import uuid

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts import members, sessions
from app.accounts import service as accounts
from app.accounts.models import AuditEntry
from app.accounts.sessions import Login
from app.core.database import session, transaction
from app.core.errors import NotFound
from tests.accounts.fixtures import Wait
from tests.factories import Company, create_company, sign_in

PATH = "/api/session"


def current_workspace(client: FlaskClient) -> uuid.UUID:
    return uuid.UUID(client.get(PATH).json["workspace"]["id"])


def login_of(response: object) -> Login:
    """Return the login of a response to signing in."""
    token = response.headers["Set-Cookie"].partition("=")[2].partition(";")[0]  # type: ignore[attr-defined]  # werkzeug
    login = sessions.find_login(token)
    assert login
    return login


def add_workspace(company: Company, name: str = "Second") -> uuid.UUID:
    with transaction():
        return accounts.create_further_workspace(company.email, name).id


def switch(login: Login, workspace_id: uuid.UUID) -> None:
    with transaction():
        sessions.switch_workspace(login, workspace_id)


def test_a_session_continues_in_another_workspace(client: FlaskClient, company: Company) -> None:
    workspace_id = add_workspace(company)
    login = login_of(sign_in(client, company))
    assert current_workspace(client) == company.workspace_id
    switch(login, workspace_id)
    assert current_workspace(client) == workspace_id
    with transaction():
        entries = session().scalars(select(AuditEntry).where(AuditEntry.action == "session.switched")).all()
        own_workspaces = sessions.list_own_workspaces(login.user_id)
    assert [(entry.workspace_id, entry.actor, entry.subject) for entry in entries] == [
        (workspace_id, login.actor, str(login.session_id))
    ]
    assert [(own.id, own.name, own.role) for own in own_workspaces] == [
        (company.workspace_id, "Example company", "owner"),
        (workspace_id, "Second", "owner"),
    ]


def test_a_foreign_workspace_is_not_found_and_changes_nothing(client: FlaskClient, company: Company) -> None:
    with transaction():
        other = create_company()
    login = login_of(sign_in(client, company))
    for workspace_id in (other.workspace_id, uuid.uuid4()):
        with pytest.raises(NotFound):
            switch(login, workspace_id)
    assert current_workspace(client) == company.workspace_id


def test_only_the_current_session_is_switched(app: Flask, client: FlaskClient, company: Company) -> None:
    workspace_id = add_workspace(company)
    other_client = app.test_client()
    sign_in(other_client, company)
    switch(login_of(sign_in(client, company)), workspace_id)
    assert (current_workspace(client), current_workspace(other_client)) == (workspace_id, company.workspace_id)


def test_signing_in_leads_to_the_workspace_switched_to_last(
    app: Flask, wait: Wait, client: FlaskClient, company: Company
) -> None:
    wait(minutes=1)
    workspace_id = add_workspace(company, "A name before all others")
    login = login_of(sign_in(client, company))
    assert login.workspace_id == company.workspace_id
    wait(minutes=1)
    switch(login, workspace_id)
    wait(minutes=1)
    second_login = login_of(sign_in(app.test_client(), company))
    assert second_login.workspace_id == workspace_id
    wait(minutes=1)
    switch(second_login, company.workspace_id)
    assert login_of(sign_in(app.test_client(), company)).workspace_id == company.workspace_id


def test_a_session_ends_with_the_membership_it_was_switched_to(client: FlaskClient, company: Company) -> None:
    workspace_id = add_workspace(company)
    with transaction():
        accounts.add_user(workspace_id, "owner-too@example.com", "owner")
    switch(login_of(sign_in(client, company)), workspace_id)
    with transaction():
        members.remove_user(company.email, workspace_id)
    assert client.get(PATH).status_code == 401


def test_a_further_workspace_needs_a_user_who_is_there(app: Flask) -> None:
    with pytest.raises(NotFound), transaction():
        accounts.create_further_workspace("nobody@example.com", "Second")
