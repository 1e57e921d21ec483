"""Seal stored values again under the newest sealing secret."""

from dataclasses import dataclass
from typing import Any

from cryptography.fernet import InvalidToken
from sqlalchemy import ColumnClause, column, select, table, text, tuple_

from app.core.database import session, transaction
from app.core.rotation import SealedColumn
from app.core.seal import Seal
from app.core.settings import current_settings
from app.secrets.declarations import SEALED_COLUMNS

BATCH_SIZE = 100
"""Values in one transaction, so that nobody waits for the rows of a batch."""


@dataclass(frozen=True, slots=True)
class ResealedColumn:
    """How many values of a column were sealed again, are sealed with the newest secret now, and open with none."""

    name: str
    resealed: int
    current: int
    unreadable: int


def read_batch(sealed_column: SealedColumn, after: tuple[Any, ...] | None) -> list[Any]:
    """Return the next rows behind a key, in the order of the key: the key and the sealed value of each."""
    keys: list[ColumnClause[Any]] = [column(name) for name in sealed_column.key]
    value: ColumnClause[Any] = column(sealed_column.column)
    statement = select(*keys, value).select_from(table(sealed_column.table)).where(value.is_not(None))
    if after is not None:
        statement = statement.where(tuple_(*keys) > tuple_(*after))
    return list(session().execute(statement.order_by(*keys).limit(BATCH_SIZE)))


class _Batches:
    """The batches of one column in the order of its key, and what became of its values so far."""

    def __init__(self, sealed_column: SealedColumn, ring: Seal, newest: Seal) -> None:
        self._column, self._ring, self._newest = sealed_column, ring, newest
        self._last_key: tuple[Any, ...] | None = None
        self.resealed = self.current = self.unreadable = 0

    def reseal_batch(self) -> bool:
        """Seal the next values again, in one transaction; tells whether there were any."""
        with transaction():
            rows = read_batch(self._column, self._last_key)
            if rows:
                self._last_key = tuple(rows[-1])[:-1]
            changes = [change for *key, sealed in rows if (change := self._change(key, bytes(sealed)))]
            if changes:
                # Only what was read: a value that was replaced meanwhile is sealed with the newest secret already.
                where = " AND ".join(f"{name} = :{name}" for name in self._column.key)
                name = self._column.column
                statement = f"UPDATE {self._column.table} SET {name} = :new_value WHERE {where} AND {name} = :value"
                session().execute(text(statement), changes)
        self.resealed += len(changes)
        self.current += len(changes)
        return bool(rows)

    def _change(self, key: list[Any], value: bytes) -> dict[str, Any] | None:
        if self._newest.can_decrypt(value):
            self.current += 1
            return None
        try:
            new_value = self._newest.encrypt(self._ring.decrypt(value))
        except InvalidToken:
            self.unreadable += 1
            return None
        return {**dict(zip(self._column.key, key, strict=True)), "value": value, "new_value": new_value}


def reseal() -> list[ResealedColumn]:
    """Seal every value that an older secret has sealed again, in short transactions.

    A run that was interrupted is repeated: what is sealed with the newest secret already stays as it is.
    """
    secrets = [secret.reveal() for secret in current_settings().sealing_secrets]
    ring, newest = Seal(secrets), Seal(secrets[:1])
    columns = []
    for sealed_column in SEALED_COLUMNS:
        batches = _Batches(sealed_column, ring, newest)
        while batches.reseal_batch():
            pass
        columns.append(ResealedColumn(sealed_column.name, batches.resealed, batches.current, batches.unreadable))
    return columns
