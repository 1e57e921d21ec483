"""`flask user`, the `list` commands, and the audit log."""

import json
import logging
import uuid

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from tests.cli.test_commands import run, run_failing
from tests.factories import Company, create_company, sign_in


def create(app: Flask, company: Company, email: str = "Someone@Example.com", role: str = "admin") -> dict[str, str]:
    options = ("--workspace", str(company.workspace_id), "--email", email, "--role", role)
    user: dict[str, str] = run(app, "user", "create", *options)
    return user


def test_a_new_user_signs_in_with_the_printed_password(app: Flask, company: Company) -> None:
    user = create(app, company)
    response = sign_in(app.test_client(), company, json={"email": user["email"], "password": user["password"]})
    assert response.json["user"] == {"id": user["userId"], "email": "someone@example.com", "role": "admin"}
    assert response.json["workspace"]["id"] == str(company.workspace_id)


def test_the_default_role_is_member(app: Flask, company: Company) -> None:
    user = run(app, "user", "create", "--workspace", str(company.workspace_id), "--email", "someone@example.com")
    assert user["role"] == "member"


def test_a_new_password_is_printed_once_and_replaces_the_old_one(app: Flask, company: Company) -> None:
    client = app.test_client()
    sign_in(client, company)
    new_password_row = run(app, "user", "password", company.email.upper())
    assert client.get("/api/session").status_code == 401
    assert sign_in(client, company).status_code == 401
    assert sign_in(client, company, json={"password": new_password_row["password"]}).status_code == 200
    assert "password" not in json.dumps(run(app, "user", "list"))


def test_users_are_listed_by_workspace(app: Flask, company: Company) -> None:
    with transaction():
        other_company = create_company()
    create(app, company)
    rows = run(app, "user", "list", "--workspace", str(company.workspace_id))
    assert [(row["email"], row["role"]) for row in rows] == [
        (company.email, "owner"),
        ("someone@example.com", "admin"),
    ]
    assert {row["workspaceId"] for row in run(app, "user", "list")} == {
        str(company.workspace_id),
        str(other_company.workspace_id),
    }


def test_workspaces_products_and_environments_are_listed(app: Flask, company: Company) -> None:
    with transaction():
        other_company = create_company()
    workspaces = [row["workspaceId"] for row in run(app, "workspace", "list")]
    assert workspaces == [str(company.workspace_id), str(other_company.workspace_id)]
    assert len(run(app, "product", "list")) == 2
    (product,) = run(app, "product", "list", "--workspace", str(company.workspace_id))
    assert (product["productId"], product["name"]) == (str(company.product_id), "Example product")
    assert len(run(app, "environment", "list")) == 2
    (environment,) = run(app, "environment", "list", "--product", str(company.product_id))
    assert (environment["environmentId"], environment["mode"]) == (str(company.environment_id), "never_ask")


@pytest.mark.parametrize("group", ["user", "workspace", "product", "environment"])
def test_every_list_is_bounded(app: Flask, company: Company, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("accounts.service", "accounts.users", "products.service"):
        monkeypatch.setattr(f"app.{module}.MAX_LIST_LENGTH", 1)
    with transaction():
        create_company()
    assert len(run(app, group, "list")) == 1


def test_changes_are_in_the_audit_log_without_addresses_and_secrets(
    app: Flask, company: Company, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    user = create(app, company)
    sign_in(app.test_client(), company, json={"email": user["email"], "password": user["password"]})
    new_password_row = run(app, "user", "password", user["email"])
    with transaction():
        entries = session().scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(3)).all()
    assert [(entry.action, entry.actor) for entry in reversed(entries)] == [
        ("user.created", "command line"),
        ("session.created", f"user {user['userId']}"),
        ("password.changed", "command line"),
    ]
    assert entries[0].details == {"sessions_revoked": 1}
    output = " ".join(f"{entry.subject} {entry.details}" for entry in entries) + caplog.text + capfd.readouterr().err
    for secret in (user["password"], new_password_row["password"], "someone@example.com"):
        assert secret not in output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("create", "--workspace", str(uuid.uuid4()), "--email", "a@example.com"), "no workspace with this id"),
        (("password", "nobody@example.com"), "no user with this e-mail address"),
        (
            ("create", "--workspace", str(uuid.uuid4()), "--email", "a@b.c", "--role", "king"),
            "Invalid value for '--role'",
        ),
    ],
)
def test_an_error_is_one_sentence(app: Flask, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in run_failing(app, "user", *arguments)


def test_an_email_address_is_unique_and_valid(app: Flask, company: Company) -> None:
    options = ("user", "create", "--workspace", str(company.workspace_id), "--email")
    assert "already" in run_failing(app, *options, company.email.upper())
    assert "not an e-mail address" in run_failing(app, *options, "nobody")
