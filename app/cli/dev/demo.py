"""The demo workspace: created once for each database, its credentials written to a file."""

import json
import os
from pathlib import Path
from typing import Any
from uuid import UUID

from app.accounts import service as accounts
from app.core import clock
from app.core.database import transaction
from app.core.errors import Conflict
from app.products import service as products
from app.products.rules import KeyKind

CREDENTIALS_FILE = "credentials.json"
EMAIL = "demo@example.com"


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
