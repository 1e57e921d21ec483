"""Users are removed and change roles; a workspace keeps an owner."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts import members, users
from app.accounts.members import LastOwner
from app.accounts.models import AuditEntry, Membership, User
from app.accounts.service import create_workspace
from app.core.database import session, transaction
from tests.cli.test_commands import run, run_failing
from tests.factories import Company, create_company, sign_in

SECOND = "second@example.com"


def add_member(company: Company, email: str = SECOND, role: str = "owner") -> str:
    with transaction():
        return users.create_user(company.workspace_id, email, role).password


def roles(company: Company) -> dict[str, str]:
    with transaction():
        return {member.email: member.role for member in users.list_members(company.workspace_id)}


def entries(prefix: str) -> list[tuple[str, dict[str, Any]]]:
    with transaction():
        rows = session().scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    return [(entry.action, entry.details) for entry in rows if entry.action.startswith(prefix)]


def test_a_role_is_changed_by_command_and_applies_to_the_open_session(app: Flask, company: Company) -> None:
    client, password = app.test_client(), add_member(company)
    sign_in(client, company, json={"email": SECOND, "password": password})
    (row,) = run(app, "user", "set", SECOND.upper(), "--role", "member")
    assert (row["role"], row["workspaceId"]) == ("member", str(company.workspace_id))
    assert client.get("/api/session").json["user"]["role"] == "member"
    assert entries("role") == [("role.changed", {"role": "member", "previous": "owner"})]


def test_an_unchanged_role_is_no_change(app: Flask, company: Company) -> None:
    run(app, "user", "set", company.email, "--role", "owner")
    assert entries("role") == []


def test_a_removed_user_is_signed_out_and_cannot_sign_in(app: Flask, company: Company) -> None:
    client, password = app.test_client(), add_member(company, role="admin")
    credentials = {"email": SECOND, "password": password}
    sign_in(client, company, json=credentials)
    assert run(app, "user", "remove", SECOND) == {"email": SECOND, "isDeleted": True}
    assert client.get("/api/session").status_code == 401
    assert sign_in(client, company, json=credentials).json["code"] == "wrong_credentials"
    assert roles(company) == {company.email: "owner"}
    assert entries("user.removed") == [("user.removed", {"role": "admin"})]
    with transaction():
        assert session().scalar(select(User.id).where(User.email == SECOND)) is None


def test_the_last_owner_can_neither_be_removed_nor_demoted(app: Flask, company: Company) -> None:
    add_member(company, role="admin")
    with transaction():
        create_company()
    for arguments in (("remove", company.email), ("set", company.email, "--role", "admin")):
        assert "last owner" in run_failing(app, "user", *arguments)
    assert roles(company) == {company.email: "owner", SECOND: "admin"}
    run(app, "user", "set", SECOND, "--role", "owner")
    run(app, "user", "set", company.email, "--role", "member")
    assert "last owner" in run_failing(app, "user", "remove", SECOND)


def join(company: Company, email: str, role: str) -> None:
    """Give a user a second membership, which no command does yet."""
    with transaction():
        user = session().scalars(select(User).where(User.email == email)).one()
        session().add(
            Membership(workspace_id=company.workspace_id, user_id=user.id, role=role, created_at=user.created_at)
        )


def test_a_user_of_several_workspaces_is_changed_and_removed_in_one(app: Flask, company: Company) -> None:
    with transaction():
        other = create_company()
    add_member(company, role="admin")
    join(other, SECOND, "member")
    assert "--workspace" in run_failing(app, "user", "set", SECOND, "--role", "member")
    run(app, "user", "set", SECOND, "--role", "owner", "--workspace", str(other.workspace_id))
    assert (roles(company)[SECOND], roles(other)[SECOND]) == ("admin", "owner")
    only_here = ("user", "remove", SECOND, "--workspace", str(company.workspace_id))
    assert run(app, *only_here)["isDeleted"] is False
    assert (SECOND in roles(company), roles(other)[SECOND]) == (False, "owner")
    assert "does not belong" in run_failing(app, *only_here)


def test_a_refusal_in_one_workspace_removes_from_none(app: Flask, company: Company) -> None:
    with transaction():
        workspace = create_workspace(SECOND, "Their own")
    join(company, SECOND, "member")
    assert "last owner" in run_failing(app, "user", "remove", SECOND)
    assert roles(company)[SECOND] == "member"
    assert workspace.email == SECOND


@pytest.mark.parametrize("arguments", [("set", "--role", "admin"), ("remove",)])
def test_an_unknown_user_is_an_error(app: Flask, arguments: tuple[str, ...]) -> None:
    command, *options = arguments
    assert "no user with this e-mail address" in run_failing(app, "user", command, "nobody@example.com", *options)


def test_a_change_of_nothing_is_an_error(app: Flask, company: Company) -> None:
    assert "nothing to change" in run_failing(app, "user", "set", company.email)


CHANGES: dict[str, Callable[[str], object]] = {
    "removed": members.remove_user,
    "demoted": lambda email: members.set_role(email, "member"),
}


@pytest.mark.parametrize("first", CHANGES)
@pytest.mark.parametrize("second", CHANGES)
def test_two_owners_who_leave_at_the_same_time_leave_one(app: Flask, company: Company, first: str, second: str) -> None:
    add_member(company)
    is_started, errors = threading.Event(), []

    def leave() -> None:
        with app.app_context(), transaction():
            is_started.set()
            try:
                CHANGES[second](SECOND)
            except LastOwner as error:
                errors.append(error)

    with transaction():
        CHANGES[first](company.email)
        session().flush()
        thread = threading.Thread(target=leave)
        thread.start()
        assert is_started.wait(10)
        thread.join(0.3)
        assert thread.is_alive(), "the second transaction waits for the first"
    thread.join(10)
    assert not thread.is_alive()
    assert len(errors) == 1
    assert roles(company)[SECOND] == "owner"
