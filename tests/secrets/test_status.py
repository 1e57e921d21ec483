"""`flask secrets status`: what does not work without the secrets that the rows were made under."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from app.core.database import session, transaction
from app.secrets.models import ReplacedPepper
from app.secrets.status import has_missing_secrets
from app.webhooks import service as webhooks
from tests.context_api import Clock, ContextApi
from tests.factories import Company
from tests.secrets.app_secrets import AppSecrets, rotation
from tests.webhooks.outbox import create_endpoint

UNCOUNTED_PROBLEMS = {
    "failed sign-ins are counted anew, and open forms are stale",
    "open request handles are refused (401), and so are retries of requests and answers",
    "evidence that is sent again is counted twice",
}


@pytest.fixture
def app_secrets(app: Flask, context_api: ContextApi) -> Iterator[AppSecrets]:
    """The secrets of an app that has two keys and a customer with a reference."""
    assert context_api.ask(userRef="u1").status_code == 200
    with rotation(app) as secrets:
        yield secrets


def status(app: Flask) -> Any:
    """Return what the command prints, whose exit code tells whether there is a problem."""
    result = app.test_cli_runner().invoke(args=["secrets", "status", "--json"])
    report = json.loads(result.output)
    assert result.exit_code == (1 if report["problems"] else 0), result.output
    return report


def misses_secrets() -> bool:
    with transaction():
        return has_missing_secrets()


def test_under_its_own_secrets_everything_is_read(app: Flask, app_secrets: AppSecrets) -> None:
    report = status(app)
    assert report["problems"] == []
    assert report["sealed"][1] == {"name": "keys.sealed_secret", "readable": 1, "unreadable": 0}
    assert [(pepper["configured"], pepper["rows"]) for pepper in report["peppers"]] == [
        (True, {"keys": 2, "customer references": 1})
    ]
    assert not misses_secrets()


def test_under_a_ring_with_the_old_secrets_everything_is_read(app: Flask, app_secrets: AppSecrets) -> None:
    app_secrets.configure(
        [app_secrets.new_pepper, app_secrets.old_pepper],
        [app_secrets.new_sealing_secret, app_secrets.old_sealing_secret],
    )
    assert status(app)["problems"] == []
    assert not misses_secrets()


def test_another_sealing_secret_is_told_by_what_it_does_not_open(app: Flask, app_secrets: AppSecrets) -> None:
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret])
    report = status(app)
    assert report["sealed"][1] == {"name": "keys.sealed_secret", "readable": 0, "unreadable": 1}
    assert report["problems"] == ["what is signed with 1 product keys is refused (401), reviews among it"]
    text = app.test_cli_runner().invoke(args=["secrets", "status"])
    assert (text.exit_code, report["problems"][0] in text.output) == (1, True)
    assert misses_secrets()


def test_another_pepper_is_told_by_what_it_does_not_recognise(app: Flask, app_secrets: AppSecrets) -> None:
    app_secrets.configure(peppers=[app_secrets.new_pepper])
    assert set(status(app)["problems"]) == UNCOUNTED_PROBLEMS | {
        "requests with 2 keys are refused (401), and what is signed with them: create new keys",
        "1 customer references name nobody, and who comes back is a new customer",
    }
    assert misses_secrets()


def test_a_pepper_that_was_replaced_long_ago_is_missed_only_by_the_rows_that_are_left(
    app: Flask, app_secrets: AppSecrets, clock: Clock
) -> None:
    app_secrets.configure(peppers=[app_secrets.new_pepper, app_secrets.old_pepper])
    app.test_cli_runner().invoke(args=["secrets", "rotate"])
    with transaction():
        assert session().query(ReplacedPepper).count() == 1
    app_secrets.configure(peppers=[app_secrets.new_pepper])
    clock.advance(days=400)
    problems = set(status(app)["problems"])
    assert not problems & UNCOUNTED_PROBLEMS
    # The product key was renewed by the command, the company key is renewed by its use.
    assert "requests with 1 keys are refused (401), and what is signed with them: create new keys" in problems


def test_another_sealing_secret_is_told_by_the_endpoints_whose_webhooks_it_does_not_sign(
    app: Flask, app_secrets: AppSecrets, company: Company
) -> None:
    endpoint = create_endpoint(company).endpoint
    with transaction():
        webhooks.rotate_secret(endpoint.id, 1)
    app_secrets.configure(sealing_secrets=[app_secrets.new_sealing_secret])
    problems = [problem for problem in status(app)["problems"] if "webhook endpoints cannot" in problem]
    assert len(problems) == 2
    assert all("1 webhook endpoints" in problem and "flask webhook rotate" in problem for problem in problems)
    with transaction():
        webhooks.rotate_secret(endpoint.id, 0)
    assert not [problem for problem in status(app)["problems"] if "webhook endpoints" in problem]
