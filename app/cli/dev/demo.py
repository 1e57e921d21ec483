"""The demo workspace: created once for each database, its credentials written to a file; and one with sample data."""

import json
import os
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID

from flask import Flask

from app.accounts import service as accounts
from app.accounts import sessions, users
from app.core import clock
from app.core.database import transaction
from app.core.errors import Conflict, DatabaseUnavailable
from app.demo import service as sample_data
from app.demo.service import WorkspaceInUse
from app.products import service as products
from app.products.rules import KeyKind

SAMPLE_WORKSPACE = "Northwind (sample data)"

CREDENTIALS_FILE = "credentials.json"
EMAIL = "demo@example.com"
RETRY_INTERVAL_S = 1.0


def write_credentials(data_dir: Path, base_url: str) -> dict[str, Any]:
    """Return the credentials of the demo workspace; create it if this database does not have it."""
    path = data_dir / CREDENTIALS_FILE
    credentials: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    with transaction():
        if not credentials or UUID(credentials["environmentId"]) not in products.list_environment_ids():
            credentials = _create_demo()
        elif _is_invalid(credentials["productKey"]):
            # The demo key was revoked, for example to try that out.
            environment_id = UUID(credentials["environmentId"])
            credentials["productKey"] = products.create_key(environment_id, KeyKind.PRODUCT).text
    credentials["baseUrl"] = base_url
    write_private(path, credentials)
    return credentials


def find_sample_workspace(email: str) -> UUID | None:
    """Return the second workspace of the demo user, created if needed; None if there is no such user any more."""
    with transaction():
        memberships = users.list_members(email=email)
        if not memberships:
            return None
        for workspace in sessions.list_own_workspaces(memberships[0].user_id):
            # It may have another name by now.
            if workspace.name == SAMPLE_WORKSPACE or sample_data.is_seeded(workspace.id):
                return workspace.id
        return accounts.create_further_workspace(email, SAMPLE_WORKSPACE).id


def seed_sample(app: Flask, workspace_id: UUID, stop_event: threading.Event) -> None:
    """Fill the workspace with sample data, unless it has products already; wait while the database is away."""
    with app.app_context():
        while not stop_event.is_set():
            try:
                with suppress(WorkspaceInUse), transaction():
                    sample_data.seed(workspace_id)
            except DatabaseUnavailable:
                stop_event.wait(RETRY_INTERVAL_S)
            else:
                return


def write_private(path: Path, content: Any) -> None:
    """Write JSON that only its owner may read; a crash leaves the old file or the new one."""
    temporary_path = path.with_suffix(".new")
    descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        json.dump(content, file, indent=2)
    temporary_path.replace(path)


def _create_demo() -> dict[str, Any]:
    workspace = _create_workspace()
    product = products.create_product(workspace.id, "Demo product")
    environment = products.create_environment(product.id, "development")
    return {
        "baseUrl": None,
        "dashboard": {"email": workspace.email, "password": workspace.password},
        "workspaceId": str(workspace.id),
        "productId": str(product.id),
        "environmentId": str(environment.id),
        "productKey": products.create_key(environment.id, KeyKind.PRODUCT).text,
        "companyKey": products.create_key(environment.id, KeyKind.COMPANY).text,
    }


def _is_invalid(product_key: str) -> bool:
    key = products.get_key(product_key.split("_")[2])
    return key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= clock.now())


def _create_workspace() -> accounts.NewWorkspace:
    """Create the workspace; on a shared server another development instance may use the address."""
    for number in range(1, 1000):
        email = EMAIL if number == 1 else EMAIL.replace("@", f"{number}@")
        try:
            return accounts.create_workspace(email, "Demo workspace")
        except Conflict:
            continue
    raise RuntimeError("there are a thousand demo workspaces on this server")
