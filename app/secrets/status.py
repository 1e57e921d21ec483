"""What the configured secrets do not open or recognise, as after a restore with others."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select, text

from app.core import clock
from app.core.database import session
from app.core.pepper import pepper_ring
from app.core.rotation import PepperUse, SealedColumn
from app.core.seal import Seal
from app.core.settings import current_settings
from app.products.redigest import has_unrecognised_keys
from app.secrets.declarations import PEPPER_USES, SEALED_COLUMNS
from app.secrets.models import ReplacedPepper
from app.secrets.report import longest_use
from app.secrets.sealing import read_batch

MISSING_SECRETS = (
    "The database has values that were made under other secrets than the configured ones; `flask secrets status` says "
    "what does not work."
)


@dataclass(frozen=True, slots=True)
class SealedValues:
    """How many values of a sealed column open, and how many do not."""

    column: SealedColumn
    readable: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class UsedPepper:
    """A pepper that rows were made under, and how many of each use."""

    id: bytes
    is_configured: bool
    row_counts: dict[str, int]


def count_sealed_values() -> list[SealedValues]:
    """Try to open every sealed value. Needs a transaction."""
    return [_count_column(sealed_column) for sealed_column in SEALED_COLUMNS]


def list_used_peppers() -> list[UsedPepper]:
    """Return the peppers that are named in rows. Needs a transaction."""
    row_counts: dict[bytes, dict[str, int]] = {}
    for use in PEPPER_USES:
        for id_, count in _count_rows(use) if use.rows else ():
            row_counts.setdefault(bytes(id_), {})[use.name] = count
    configured_ids = {pepper.id for pepper in pepper_ring().peppers}
    return [UsedPepper(id_, id_ in configured_ids, counts) for id_, counts in sorted(row_counts.items())]


def list_problems(columns: list[SealedValues], peppers: list[UsedPepper]) -> list[str]:
    """Return what does not work, a clause each. Needs a transaction."""
    problems = [values.column.problem.format(count=values.unreadable) for values in columns if values.unreadable]
    missing_peppers = [pepper for pepper in peppers if not pepper.is_configured]
    for use in PEPPER_USES:
        count = sum(pepper.row_counts.get(use.name, 0) for pepper in missing_peppers)
        if count or (use.rows is None and any(_is_needed(use, pepper) for pepper in missing_peppers)):
            problems.append(use.problem.format(count=count))
    return problems


def has_missing_secrets() -> bool:
    """Tell from a few rows whether secrets are missing; for the start of a process. Needs a transaction."""
    seal = _seal()
    first_values = [bytes(row[-1]) for column in SEALED_COLUMNS for row in read_batch(column, None)]
    return has_unrecognised_keys() or not all(map(seal.can_decrypt, first_values))


def _seal() -> Seal:
    return Seal([secret.reveal() for secret in current_settings().sealing_secrets])


def _count_column(sealed_column: SealedColumn) -> SealedValues:
    seal, counts = _seal(), {True: 0, False: 0}
    for value in _sealed_values(sealed_column):
        counts[seal.can_decrypt(value)] += 1
    return SealedValues(sealed_column, counts[True], counts[False])


def _sealed_values(sealed_column: SealedColumn) -> Iterator[bytes]:
    rows = read_batch(sealed_column, None)
    while rows:
        yield from (bytes(row[-1]) for row in rows)
        rows = read_batch(sealed_column, tuple(rows[-1])[:-1])


def _count_rows(use: PepperUse) -> list[Any]:
    statement = f"""
        SELECT pepper_id, {use.row_count} FROM (SELECT * FROM {use.rows}) AS x
        WHERE pepper_id IS NOT NULL GROUP BY pepper_id
    """
    return list(session().execute(text(statement), {"now": clock.now(), "newest": pepper_ring().newest.id}))


def _is_needed(use: PepperUse, pepper: UsedPepper) -> bool:
    """Tell whether what was made under a pepper, and is not counted, may still come back."""
    replaced_at: datetime | None = session().scalar(
        select(ReplacedPepper.replaced_at).where(ReplacedPepper.id == pepper.id)
    )
    longest = longest_use(use)
    return replaced_at is None or longest is None or replaced_at + longest > clock.now()
