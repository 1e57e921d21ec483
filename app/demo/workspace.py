"""Products, environments and keys of the sample data, and what the audit log says of them."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.accounts.bulk import insert_audit_entries
from app.accounts.service import COMMAND_LINE_ACTOR
from app.catalog.bulk import insert_fields
from app.demo.content import EnvironmentContent, ProductContent, context, products
from app.demo.period import Ids, Period
from app.products.bulk import insert_products, insert_unusable_keys
from app.products.rules import DEFAULT_RETENTION_DAYS, KeyKind, Mode

FOUNDED_DAY = -20
"""The first product is this many days older than the fortnight; the others follow."""
DAYS_BETWEEN_PRODUCTS = 4
KEY_ROTATED_DAY = 3
MODE_CHANGED_DAY = -6


@dataclass(frozen=True)
class SampleEnvironment:
    """An environment of the sample data."""

    id: uuid.UUID
    product_id: uuid.UUID
    product: ProductContent
    content: EnvironmentContent
    created_at: datetime

    def key_id(self, ids: Ids, name: str) -> str:
        """Return the id of one of its keys."""
        return ids.digest(f"key {name}", self.id).hex()


def list_environments(period: Period, ids: Ids) -> list[SampleEnvironment]:
    """Return the environments, by product."""
    return [
        SampleEnvironment(
            id=ids.make("environment", f"{product.slug} {environment.name}"),
            product_id=ids.make("product", product.slug),
            product=product,
            content=environment,
            created_at=period.at(FOUNDED_DAY + DAYS_BETWEEN_PRODUCTS * number, 9) + timedelta(minutes=5 * position),
        )
        for number, product in enumerate(products().products)
        for position, environment in enumerate(product.environments, 1)
    ]


class WorkspaceWriter:
    """Inserts what belongs to the workspace itself; every insertion is also an entry of the audit log."""

    def __init__(self, period: Period, ids: Ids, environments: list[SampleEnvironment]) -> None:
        self._period, self._ids, self._environments = period, ids, environments
        self._entries: list[dict[str, Any]] = []

    def write(self) -> None:
        """Insert products, environments, keys, fields and audit entries."""
        self._write_products()
        insert_unusable_keys([key for environment in self._environments for key in self._keys(environment)])
        self._write_fields()
        insert_audit_entries(sorted(self._entries, key=lambda entry: entry["at"]))

    def _write_products(self) -> None:
        product_rows: dict[uuid.UUID, dict[str, Any]] = {}
        for environment in self._environments:
            created_at = environment.created_at.replace(minute=0)
            row = {
                "id": environment.product_id,
                "workspace_id": self._ids.workspace_id,
                "name": environment.product.name,
                "created_at": created_at,
            }
            if product_rows.setdefault(environment.product_id, row) is row:
                self._record(created_at, "product.created", environment.product_id, name=environment.product.name)
            name = environment.content.name
            self._record(environment.created_at, "environment.created", environment.id, name=name)
            if environment.content.mode != Mode.NEVER_ASK:
                moment = self._period.at(MODE_CHANGED_DAY, 14)
                self._record(moment, "environment.changed", environment.id, mode=environment.content.mode)
        insert_products(list(product_rows.values()), list(map(_environment_row, self._environments)))

    def _keys(self, environment: SampleEnvironment) -> Iterator[dict[str, Any]]:
        # A second apart: lists order keys of the same instant by their ids, which differ from workspace to workspace.
        created_at, end, second = environment.created_at + timedelta(minutes=2), self._period.end, timedelta(seconds=1)
        yield self._key(environment, "product", KeyKind.PRODUCT, created_at, last_used_at=end)
        if environment.content.name != "production":
            return
        yield self._key(environment, "company", KeyKind.COMPANY, created_at + second, last_used_at=end)
        if environment.product.slug == "shop":
            rotated_at = self._period.at(KEY_ROTATED_DAY, 10)
            first_id = environment.key_id(self._ids, "first")
            revoked_at = rotated_at + timedelta(hours=26)
            times = {"last_used_at": rotated_at + timedelta(minutes=9), "revoked_at": revoked_at}
            yield self._key(environment, "first", KeyKind.READ, created_at + 2 * second, **times)
            yield self._key(environment, "read", KeyKind.READ, rotated_at, replaces_id=first_id, last_used_at=end)
            self._record(revoked_at, "key.revoked", first_id, kind=KeyKind.READ)

    def _key(
        self, environment: SampleEnvironment, name: str, kind: KeyKind, created_at: datetime, **columns: Any
    ) -> dict[str, Any]:
        key_id, replaces = environment.key_id(self._ids, name), columns.get("replaces_id")
        action = "key.rotated" if replaces else "key.created"
        details = {"replaces": replaces} if replaces else {}
        if kind is KeyKind.PRODUCT:
            details["has_company_right"] = False
        self._record(created_at, action, key_id, kind=kind, expires_at=None, **details)
        return {
            "id": key_id,
            "environment_id": environment.id,
            "kind": kind,
            "has_company_right": False,
            "created_at": created_at,
            **dict.fromkeys(("replaces_id", "expires_at", "revoked_at", "last_used_at")),
            **columns,
        }

    def _write_fields(self) -> None:
        product_id, created_at = self._ids.make("product", "bookings"), self._period.at(-3, 11)
        rows = []
        for number, field in enumerate(context().fields):
            moment = created_at + timedelta(minutes=3 * number)
            self._record(moment, "field.written", field.key, product=str(product_id))
            rows.append(
                {
                    "product_id": product_id,
                    "key": field.key,
                    "label": field.label,
                    "type": field.type,
                    "allowed_values": field.allowed_values,
                    "targeted_advertising_safe": field.advertising_safe,
                    "operations": field.operations,
                    "enabled": field.enabled,
                    "created_at": moment,
                    "updated_at": moment,
                }
            )
        insert_fields(rows)

    def _record(self, moment: datetime, action: str, subject: object, **details: Any) -> None:
        self._entries.append(
            {
                "workspace_id": self._ids.workspace_id,
                "at": moment,
                "actor": COMMAND_LINE_ACTOR,
                "action": action,
                "subject": str(subject),
                "details": details,
            }
        )


def _environment_row(environment: SampleEnvironment) -> dict[str, Any]:
    return {
        "id": environment.id,
        "product_id": environment.product_id,
        "name": environment.content.name,
        "mode": environment.content.mode,
        "retention_days": DEFAULT_RETENTION_DAYS,
        "evidence_retention_days": DEFAULT_RETENTION_DAYS,
        "created_at": environment.created_at,
    }
