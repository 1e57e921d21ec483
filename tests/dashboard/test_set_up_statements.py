"""The pages of how it is set up execute a bounded number of statements, however many rows they show."""

from datetime import timedelta

import pytest
from flask.testing import FlaskClient

from app.accounts import users
from app.accounts.models import Invitation
from app.accounts.service import create_further_workspace, record_audit_entry
from app.core import clock
from app.core.database import session, transaction
from app.products import service as products
from app.products.rules import KeyKind
from tests.dashboard.history import count_statements
from tests.factories import Company, sign_in

MAX_STATEMENTS = 10
"""Of one page, with those of its scope and its head."""


def add_rows(company: Company, count: int) -> None:
    with transaction():
        for _ in range(count):
            environment = products.create_environment(products.create_product(company.workspace_id, "Shop").id, "test")
            key = products.create_key(company.environment_id, KeyKind.PRODUCT)
            products.revoke_key(key.id)
            number = key.id[:8]
            user = users.create_user(company.workspace_id, f"{number}@example.com", "member")
            create_further_workspace(company.email, f"Company {number}")
            record_audit_entry(company.workspace_id, f"user {user.id}", "thing.done", str(environment.id))
            times = {"created_at": clock.now(), "expires_at": clock.now() + timedelta(days=1)}
            email = f"invited-{number}@example.com"
            session().add(
                Invitation(
                    workspace_id=company.workspace_id,
                    id=environment.id,
                    digest=number.encode(),
                    email=email,
                    role="member",
                    created_by=user.id,
                    **times,
                )
            )


@pytest.mark.parametrize("path", ["/keys", "/settings", "/set-up", "/team", "/audit"])
def test_a_page_of_many_rows_takes_as_many_statements_as_one_of_few(
    client: FlaskClient, company: Company, path: str
) -> None:
    sign_in(client, company)
    counts = []
    for count in (1, 4):
        add_rows(company, count)
        counts.append(count_statements(client, path))
    assert counts[0] == counts[1] <= MAX_STATEMENTS
