"""Retention rules, which packages declare for their tables; `app/retention` collects and applies them."""

from dataclasses import dataclass
from enum import StrEnum


class Group(StrEnum):
    """The job that applies a rule."""

    FEEDBACK = "feedback"
    ENRICHMENT = "enrichment"
    EVIDENCE = "evidence"
    SIGN_INS = "sign_ins"


@dataclass(frozen=True, slots=True)
class RetentionRule:
    """Rows of `table` are removed when `instant` is older than the retention of their environment.

    With `is_expiry` they are removed at `instant` itself. Without `has_environment` the table has no environment,
    and its rules must have `is_expiry`. `key` identifies a row within its environment. `follow_ups` are statements
    that run in the same one and read the removed rows as `removed_rows`.
    """

    group: Group
    table: str
    key: tuple[str, ...]
    instant: str
    reason: str
    follow_ups: tuple[str, ...] = ()
    is_expiry: bool = False
    has_environment: bool = True
