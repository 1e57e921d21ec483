"""Seed workspaces with the command, and count what is stored."""

import json
import uuid
from typing import Any

from flask import Flask
from sqlalchemy import text

from app.accounts import service as accounts
from app.core.database import session, transaction
from app.models import METADATA
from tests.factories import Company


def create_workspace(company: Company) -> uuid.UUID:
    with transaction():
        return accounts.create_further_workspace(company.email, "Sample").id


def seed(app: Flask, workspace_id: uuid.UUID) -> Any:
    result = app.test_cli_runner().invoke(args=["demo", "seed", "--workspace", str(workspace_id), "--json"])
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def environment_ids(seeding: Any) -> list[uuid.UUID]:
    return [uuid.UUID(row["environmentId"]) for product in seeding["products"] for row in product["environments"]]


def row_counts() -> dict[str, int]:
    with transaction():
        return {name: session().scalar(text(f"SELECT count(*) FROM {name}")) or 0 for name in METADATA.tables}
