"""Invitations that are accepted at the same time."""

import threading

import pytest
from flask import Flask

from app.accounts import invitations, users
from app.accounts.invitations import InvalidInvitation, NewInvitation
from app.accounts.rules import OWNER, ROLES, Client, may_grant
from app.accounts.sessions import Login, find_login
from app.core.database import transaction
from tests.factories import SESSION_COOKIE, Company, sign_in

PASSWORD, CLIENT = "correct horse battery", Client("192.0.2.1")


@pytest.fixture
def login(app: Flask, company: Company) -> Login:
    client = app.test_client()
    sign_in(client, company)
    cookie = client.get_cookie(SESSION_COOKIE)
    assert cookie is not None
    login = find_login(cookie.value)
    assert login is not None
    return login


def accept(invitation: NewInvitation) -> None:
    invitations.accept_as_new_user(invitation.workspace_id, invitation.token, PASSWORD, CLIENT)


def test_of_two_who_accept_at_the_same_time_one_joins(app: Flask, company: Company, login: Login) -> None:
    with transaction():
        invitation = invitations.create_invitation(login, "newcomer@example.com", "member")
    is_started, errors = threading.Event(), []

    def accept_too() -> None:
        with app.app_context(), transaction():
            is_started.set()
            try:
                accept(invitation)
            except InvalidInvitation as error:
                errors.append(error)

    with transaction():
        accept(invitation)
        thread = threading.Thread(target=accept_too)
        thread.start()
        assert is_started.wait(timeout=10)
        thread.join(0.3)
        assert thread.is_alive(), "the second transaction waits for the first"
    thread.join(timeout=10)
    assert len(errors) == 1
    with transaction():
        assert len(users.list_members(company.workspace_id)) == 2


def test_a_role_grants_no_more_than_itself() -> None:
    grants = {(role, granted) for role in ROLES for granted in ROLES if may_grant(role, granted)}
    assert grants == {*((OWNER, role) for role in ROLES), ("admin", "admin"), ("admin", "member")}
