"""People, and what is there, on the command line."""

import json
import logging
import uuid

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from tests.cli.test_commands import refuse, run
from tests.factories import Company, found_company, sign_in


def create(app: Flask, company: Company, email: str = "Someone@Example.com", role: str = "admin") -> dict[str, str]:
    options = ("--workspace", str(company.workspace_id), "--email", email, "--role", role)
    made: dict[str, str] = run(app, "user", "create", *options)
    return made


def test_somebody_who_was_added_signs_in_with_the_printed_password(app: Flask, company: Company) -> None:
    made = create(app, company)
    answer = sign_in(app.test_client(), company, json={"email": made["email"], "password": made["password"]})
    assert answer.json["user"] == {"id": made["userId"], "email": "someone@example.com", "role": "admin"}
    assert answer.json["workspace"]["id"] == str(company.workspace_id)


def test_who_is_added_without_a_role_may_only_look(app: Flask, company: Company) -> None:
    made = run(app, "user", "create", "--workspace", str(company.workspace_id), "--email", "someone@example.com")
    assert made["role"] == "member"


def test_a_new_password_is_printed_once_and_the_old_one_is_over(app: Flask, company: Company) -> None:
    client = app.test_client()
    sign_in(client, company)
    changed = run(app, "user", "password", company.email.upper())
    assert client.get("/api/session").status_code == 401
    assert sign_in(client, company).status_code == 401
    assert sign_in(client, company, json={"password": changed["password"]}).status_code == 200
    assert "password" not in json.dumps(run(app, "user", "list"))


def test_people_are_listed_by_workspace(app: Flask, company: Company) -> None:
    with transaction():
        other = found_company()
    create(app, company)
    listed = run(app, "user", "list", "--workspace", str(company.workspace_id))
    assert [(one["email"], one["role"]) for one in listed] == [
        (company.email, "owner"),
        ("someone@example.com", "admin"),
    ]
    assert {one["workspaceId"] for one in run(app, "user", "list")} == {
        str(company.workspace_id),
        str(other.workspace_id),
    }


def test_workspaces_products_and_environments_are_listed(app: Flask, company: Company) -> None:
    with transaction():
        other = found_company()
    workspaces = [one["workspaceId"] for one in run(app, "workspace", "list")]
    assert workspaces == [str(company.workspace_id), str(other.workspace_id)]
    assert len(run(app, "product", "list")) == 2
    (product,) = run(app, "product", "list", "--workspace", str(company.workspace_id))
    assert (product["productId"], product["name"]) == (str(company.product_id), "Example product")
    assert len(run(app, "environment", "list")) == 2
    (environment,) = run(app, "environment", "list", "--product", str(company.product_id))
    assert (environment["environmentId"], environment["mode"]) == (str(company.environment_id), "never_ask")


@pytest.mark.parametrize("group", ["user", "workspace", "product", "environment"])
def test_no_list_is_endless(app: Flask, company: Company, group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("accounts.service", "accounts.users", "products.service"):
        monkeypatch.setattr(f"app.{place}.MAX_LISTED", 1)
    with transaction():
        found_company()
    assert len(run(app, group, "list")) == 1


def test_what_was_done_is_in_the_audit_log_without_addresses_and_secrets(
    app: Flask, company: Company, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    made = create(app, company)
    sign_in(app.test_client(), company, json={"email": made["email"], "password": made["password"]})
    changed = run(app, "user", "password", made["email"])
    with transaction():
        entries = session().scalars(select(AuditEntry).order_by(AuditEntry.id.desc()).limit(3)).all()
    assert [(entry.action, entry.actor) for entry in reversed(entries)] == [
        ("user.created", "command line"),
        ("session.created", f"user {made['userId']}"),
        ("password.changed", "command line"),
    ]
    assert entries[0].details == {"sessions_revoked": 1}
    told = " ".join(f"{entry.subject} {entry.details}" for entry in entries) + caplog.text + capfd.readouterr().err
    for secret in (made["password"], changed["password"], "someone@example.com"):
        assert secret not in told


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
def test_a_mistake_is_told_in_one_sentence(app: Flask, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in refuse(app, "user", *arguments)


def test_an_address_is_taken_once_and_must_be_one(app: Flask, company: Company) -> None:
    options = ("user", "create", "--workspace", str(company.workspace_id), "--email")
    assert "already" in refuse(app, *options, company.email.upper())
    assert "not an e-mail address" in refuse(app, *options, "nobody")
