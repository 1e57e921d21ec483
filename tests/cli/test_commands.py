"""`flask workspace`, `product`, `environment`, `key` and `interaction`."""

import json
import uuid
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from tests.factories import Company, send_review


def run(app: Flask, *arguments: str) -> Any:
    result = app.test_cli_runner().invoke(args=[*arguments, "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def run_failing(app: Flask, *arguments: str) -> str:
    result = app.test_cli_runner().invoke(args=list(arguments))
    assert result.exit_code != 0
    return result.output


def test_a_company_is_set_up_from_the_command_line(app: Flask) -> None:
    workspace = run(app, "workspace", "create", "--email", "Owner@Example.com", "--name", " Example  company ")
    assert (workspace["email"], workspace["name"]) == ("owner@example.com", "Example company")
    assert len(workspace["password"]) >= 12
    product = run(app, "product", "create", "--workspace", workspace["workspaceId"], "--name", "Shop")
    environment = run(
        app,
        "environment",
        "create",
        "--product",
        product["productId"],
        "--name",
        "production",
        "--retention-days",
        "30",
    )
    assert (environment["mode"], environment["retentionDays"], environment["evidenceRetentionDays"]) == (
        "never_ask",
        30,
        90,
    )
    changed_row = run(app, "environment", "set", environment["environmentId"], "--mode", "ask_once")
    assert (changed_row["mode"], changed_row["retentionDays"]) == ("ask_once", 30)
    key = run(app, "key", "create", "--environment", environment["environmentId"], "--kind", "product")
    assert key["key"].startswith(f"af_live_{key['keyId']}_{environment['environmentId'].replace('-', '')}_")
    with transaction():
        actions = session().scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
    assert actions == [
        "workspace.created",
        "product.created",
        "environment.created",
        "environment.changed",
        "environment.changed",
        "key.created",
    ]


def test_keys_are_listed_revoked_and_rotated_without_their_texts(app: Flask, company: Company) -> None:
    environment_id = str(company.environment_id)
    product_key_id = company.product_key.split("_")[2]
    rotation = run(app, "key", "rotate", product_key_id, "--overlap-hours", "24")
    revocation = run(app, "key", "revoke", product_key_id)
    assert revocation["revokedAt"]
    rows = run(app, "key", "list", "--environment", environment_id)
    assert {key["keyId"] for key in rows} == {product_key_id, rotation["keyId"], company.company_key.split("_")[2]}
    assert next(key for key in rows if key["keyId"] == rotation["keyId"])["replaces"] == product_key_id
    assert company.product_key not in json.dumps(rows)
    assert rotation["key"] not in json.dumps(rows)


def test_a_product_key_can_be_given_the_company_right_and_an_expiry(app: Flask, company: Company) -> None:
    options = ("--environment", str(company.environment_id), "--kind", "product", "--right", "company")
    key = run(app, "key", "create", *options, "--expires-in", "24h")
    row = next(row for row in run(app, "key", "list") if row["keyId"] == key["keyId"])
    assert row["rights"] == ["company"]
    assert row["expiresAt"] > row["createdAt"]


def test_an_interaction_is_shown_with_its_review(app: Flask, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    send_review(app.test_client(), company.capability(interaction_id))
    record = run(app, "interaction", "show", interaction_id, "--environment", str(company.environment_id))
    assert (record["surface"], record["operation"], record["review"]["outcome"]) == ("unknown", "pending", "success")
    assert record["statusCode"] is None


def test_rows_are_printed_as_text_without_the_json_option(app: Flask, company: Company) -> None:
    result = app.test_cli_runner().invoke(args=["key", "list", "--environment", str(company.environment_id)])
    assert f"keyId          {company.product_key.split('_')[2]}" in result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("product", "create", "--workspace", str(uuid.uuid4()), "--name", "x"), "no workspace with this id"),
        (("environment", "create", "--product", str(uuid.uuid4()), "--name", "x"), "no product with this id"),
        (("environment", "set", str(uuid.uuid4()), "--mode", "off"), "no environment with this id"),
        (("environment", "set", str(uuid.uuid4()), "--mode", "sometimes"), "Invalid value for '--mode'"),
        (("environment", "set", str(uuid.uuid4()), "--retention-days", "366"), "is not in the range 1<=x<=365"),
        (("key", "revoke", "nonsense"), "no key with this id"),
        (("key", "rotate", "nonsense", "--overlap-hours", "169"), "is not in the range 0<=x<=168"),
        (("interaction", "show", str(uuid.uuid4()), "--environment", str(uuid.uuid4())), "no interaction with this id"),
        (("workspace", "create", "--email", "nobody", "--name", "x"), "not an e-mail address"),
    ],
)
def test_an_error_is_one_sentence(app: Flask, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in run_failing(app, *arguments)


def test_an_invalid_duration_shows_the_valid_formats(app: Flask, company: Company) -> None:
    options = ("--environment", str(company.environment_id), "--kind", "product", "--expires-in", "soon")
    assert "90s, 15m, 24h or 30d" in run_failing(app, "key", "create", *options)


def test_an_email_address_is_unique(app: Flask) -> None:
    run(app, "workspace", "create", "--email", "owner@example.com", "--name", "One")
    assert "already" in run_failing(app, "workspace", "create", "--email", "OWNER@example.com", "--name", "Two")
