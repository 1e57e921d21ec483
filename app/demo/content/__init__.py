"""What the sample data says, as files, and the records they are read into."""

import tomllib
from functools import cache
from pathlib import Path
from typing import TypeVar

import msgspec

FOLDER = Path(__file__).resolve().parent

Content = TypeVar("Content", bound=msgspec.Struct)


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of a content file."""


class Operation(Record, frozen=True):
    """One operation, how well it works, and how often customer context is asked for and used in it."""

    name: str
    surface: str
    latency_ms: float
    success: float
    partial: float
    codes: list[int] = []
    asks_context: float = 0.0
    uses_context: float = 0.0


class Flow(Record, frozen=True):
    """The operations of one session, in their order."""

    weight: float
    steps: list[str]


class Incident(Record, frozen=True):
    """Hours in which an operation mostly fails."""

    operation: str
    day: int
    hour: int
    hours: int
    sessions: int
    success: float
    partial: float
    slowdown: float
    codes: list[int]


class Improvement(Record, frozen=True):
    """The shares of an operation until the day of a deployment."""

    operation: str
    day: int
    success: float
    partial: float


class EnvironmentContent(Record, frozen=True):
    """One environment, and how many sessions it has on a common weekday."""

    name: str
    sessions: float
    mode: str = "never_ask"


class ProductContent(Record, frozen=True):
    """One product; `reference` begins the references of its customers."""

    slug: str
    name: str
    sdk: str
    reference: str
    customers: int
    known_share: float
    environments: list[EnvironmentContent]
    operations: list[Operation]
    flows: list[Flow]
    incidents: list[Incident] = []
    improvements: list[Improvement] = []

    def operation(self, name: str) -> Operation:
        """Return the operation with this name."""
        return next(operation for operation in self.operations if operation.name == name)


class Hint(Record, frozen=True):
    """A runtime hint; an empty text stands for none."""

    weight: float
    text: str


class Products(Record, frozen=True):
    """The products and the agents that use them."""

    products: list[ProductContent]
    hints: list[Hint]


class FindingContent(Record, frozen=True, omit_defaults=True):
    """One finding of a report."""

    kind: str
    topic: str
    detail: str
    severity: str | None = None


class ReportContent(Record, frozen=True):
    """A report, and when it is written."""

    product: str
    operation: str
    moment: str
    summary: str
    impact: str
    confidence: float
    findings: list[FindingContent]
    workaround: str | None = None


class Reports(Record, frozen=True):
    """The reports."""

    reports: list[ReportContent]


class TriageCase(Record, frozen=True):
    """A state that a share of the failures and reports of an operation gets from a moment on, with comments."""

    product: str
    operation: str
    moment: str
    day: int
    hour: int
    share: float
    state: str
    comments: list[str]


class TriageContent(Record, frozen=True):
    """The cases, in the order in which they were worked through."""

    cases: list[TriageCase]


class FieldContent(Record, frozen=True):
    """A field of customer context that a product has written itself."""

    key: str
    label: str
    type: str
    allowed_values: list[str]
    advertising_safe: bool
    operations: list[str] | None = None
    enabled: bool = True


class ShopContext(Record, frozen=True):
    """The built-in fields that the shop asks for."""

    keys: list[str]


class Context(Record, frozen=True):
    """The fields, and the variants that the two products decide between."""

    fields: list[FieldContent]
    shop: ShopContext
    variants: dict[str, list[str]]


class SourceContent(Record, frozen=True):
    """A log of the company's own, and its events on a common weekday."""

    product: str
    kind: str
    provider: str
    source_id: str
    sdk: str
    attested: str
    events: float


class Evidence(Record, frozen=True):
    """The sources, and how often each agent and referrer occurs."""

    sources: list[SourceContent]
    agents: dict[str, float]
    referrers: dict[str, float]
    shares: dict[str, float]


Notes = dict[str, dict[str, dict[str, list[str]]]]
"""By product, operation and moment."""


def _read(name: str, kind: type[Content]) -> Content:
    return msgspec.convert(tomllib.loads((FOLDER / name).read_text()), kind)


@cache
def products() -> Products:
    """Return the products."""
    return _read("products.toml", Products)


@cache
def reports() -> Reports:
    """Return the reports."""
    return _read("reports.toml", Reports)


@cache
def triage() -> TriageContent:
    """Return what is done about failures and reports."""
    return _read("triage.toml", TriageContent)


@cache
def context() -> Context:
    """Return what is asked about customers."""
    return _read("context.toml", Context)


@cache
def evidence() -> Evidence:
    """Return the AI traffic."""
    return _read("evidence.toml", Evidence)


@cache
def notes() -> tuple[Notes, dict[str, list[str]]]:
    """Return the notes of reviews, and the words that take the place of names in braces."""
    content = tomllib.loads((FOLDER / "notes.toml").read_text())
    words = msgspec.convert(content.pop("words"), dict[str, list[str]])
    return msgspec.convert(content, Notes), words
