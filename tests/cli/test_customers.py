"""`flask customer` on the command line."""

import json
import uuid

import pytest
from flask import Flask

from tests.cli.test_commands import run_failing
from tests.context_api import ContextApi, item


@pytest.fixture
def shared_user(context_api: ContextApi) -> str:
    """Remember something of the same userRef in two accounts, and return the userRef."""
    for account in ("account-1", "account-2"):
        context_api.answer(context_api.ask(userRef="user-1", accountRef=account).json, item(remember=True))
    return "user-1"


def options(context_api: ContextApi, *references: str) -> tuple[str, ...]:
    return ("--product", str(context_api.company.product_id), *references)


def test_a_customer_that_does_not_exist_is_said_to_be_unknown(
    app: Flask, context_api: ContextApi, shared_user: str
) -> None:
    output = run_failing(app, "customer", "export", *options(context_api, "--user-ref", "somebody-else"))
    assert "There is no such customer" in output
    assert "Several" not in output


def test_a_user_of_several_accounts_is_said_to_be_ambiguous(
    app: Flask, context_api: ContextApi, shared_user: str
) -> None:
    for command in (("export",), ("erase", "--yes")):
        output = run_failing(app, "customer", *command, *options(context_api, "--user-ref", shared_user))
        assert "Several customers have this userRef" in output
        assert "no such customer" not in output


def test_the_account_tells_the_customers_apart(app: Flask, context_api: ContextApi, shared_user: str) -> None:
    arguments = ["customer", "export", *options(context_api, "--user-ref", shared_user, "--account-ref", "account-2")]
    result = app.test_cli_runner().invoke(args=arguments)
    assert result.exit_code == 0, result.output
    assert "signals" in {json.loads(line)["table"] for line in result.output.splitlines()}


def test_a_product_without_customers_knows_none(app: Flask) -> None:
    arguments = ("--product", str(uuid.uuid4()), "--user-ref", "user-1")
    assert "There is no such customer" in run_failing(app, "customer", "export", *arguments)
