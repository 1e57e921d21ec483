"""How a package declares which of its rows leave, when, and why; `app/retention` collects and applies the rules."""

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
    """Rows of `table` leave when `instant` is older than the retention of their environment.

    With `is_expiry` they leave at `instant` itself; without `has_environment` the table belongs to no environment, and
    its rows can only leave so. `key` names a row, after the environment. `follow_up` is SQL that runs in the same
    statement and reads the removed rows as `removed_rows`.
    """

    group: Group
    table: str
    key: tuple[str, ...]
    instant: str
    reason: str
    follow_up: str = ""
    is_expiry: bool = False
    has_environment: bool = True
