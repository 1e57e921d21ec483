"""What the secrets of the service protect, which packages declare; `app/secrets` renews it and says what remains."""

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed values, which are sealed again under the newest sealing secret; `key` names a row."""

    table: str
    key: tuple[str, ...]
    column: str
    problem: str = "{count} values cannot be opened"
    """What does not work while no sealing secret opens `{count}` values: a clause."""

    @property
    def name(self) -> str:
        """The name of the column with its table."""
        return f"{self.table}.{self.column}"


class Retention(StrEnum):
    """The retention that rows are kept for: the longest of all environments."""

    FEEDBACK = "feedback"
    EVIDENCE = "evidence"


@dataclass(frozen=True, slots=True)
class PepperUse:
    """What an older pepper is still needed for.

    It is needed for the time `needed_for` and the `retention` after its replacement. Without either, it is needed until
    every row is renewed or gone: `row_count` and `ends_at` are then aggregates of the rows of `rows` that have an older
    pepper in the column `pepper_id`, and `ends_at` is null if one of them has no end. With a time, `rows` may be left
    out. `row_count` may refer to `:newest`, the newest pepper, and all to `:now`.
    """

    name: str
    loss: str
    """What happened if the pepper were removed now: a clause in which `{count}` stands for the number of rows."""
    problem: str = "what was made under it is not recognised"
    """What does not work while the pepper is not configured: a clause, likewise."""
    columns: tuple[str, ...] = ()
    """`table.column` of the digests."""
    needed_for: timedelta | None = None
    retention: Retention | None = None
    rows: str | None = None
    row_count: str = "count(*)"
    ends_at: str = "NULL::timestamptz"
