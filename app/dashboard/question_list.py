"""The questions of a product with how often they were asked and answered: its own, built-in and former ones."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from app.catalog import service as catalogs
from app.catalog.entries import PRODUCT_VERSION, Catalog, Entry, catalog_file
from app.catalog.models import FieldDefinition
from app.customers.rules import PURPOSES
from app.dashboard.export_schemas import BUILT_IN, FORMER, OWN
from app.dashboard.figures import Share
from app.dashboard.scope import Scope
from app.enrichment.queries import FieldUse, list_field_uses
from app.enrichment.rules import is_usable


@dataclass(frozen=True, slots=True)
class Question:
    """A field of a catalog with its state, and how often it was asked for and answered in the shown days."""

    key: str
    origin: str
    uses: Sequence[FieldUse]
    state: str | None = None
    """`active`, `retired` by the company, or `replaced`: a built-in one where the product has its own."""
    label: str | None = None
    type: str | None = None
    allowed_values: Sequence[str] = ()
    operations: Sequence[str] = ()
    purposes: Sequence[str] = ()

    @property
    def asked(self) -> int:
        """How many requests asked it, for every purpose."""
        return sum(use.asked for use in self.uses)

    @property
    def answered(self) -> int:
        """How many of them were answered with it."""
        return sum(use.answered for use in self.uses)

    @property
    def answers(self) -> Share:
        """The share of requests that were answered with it."""
        return Share(self.answered, self.asked)


@dataclass(frozen=True, slots=True)
class QuestionLists:
    """The questions of a product, those that were asked most first, and the catalog that applies."""

    own: list[Question]
    built_in: list[Question]
    former: list[Question]
    """Asked before, and not in the catalog any more."""
    catalog: Catalog

    @property
    def is_built_in(self) -> bool:
        """Whether the built-in questions are asked."""
        return self.catalog.version != PRODUCT_VERSION


def find_questions(scope: Scope) -> QuestionLists:
    """Return the questions of the product, with their uses in the environment and the shown days."""
    catalog = catalogs.get_catalog(scope.product.id)
    is_built_in = catalog.version != PRODUCT_VERSION
    uses = defaultdict(list)
    for use in list_field_uses(scope.environment.id, scope.first_on):
        uses[use.key].append(use)
    own = [_own_question(field, uses.pop(field.key, [])) for field in catalogs.list_all(scope.product.id).fields_]
    # What was asked under a key that the product has as well was asked in its words.
    built_in = [
        _built_in_question(entry, uses.pop(entry.key, []), is_built_in) for entry in catalog_file().catalog.entries
    ]
    former = [Question(key, FORMER, key_uses) for key, key_uses in uses.items()]
    return QuestionLists(_by_use(own), _by_use(built_in), _by_use(former), catalog)


def _by_use(questions: Sequence[Question]) -> list[Question]:
    return sorted(questions, key=lambda question: -question.asked)


def _own_question(field: FieldDefinition, uses: Sequence[FieldUse]) -> Question:
    return Question(
        key=field.key,
        origin=OWN,
        uses=uses,
        state="active" if field.enabled else "retired",
        label=field.label,
        type=field.type,
        allowed_values=field.allowed_values,
        operations=field.operations or (),
        purposes=_purposes(field.targeted_advertising_safe),
    )


def _built_in_question(entry: Entry, uses: Sequence[FieldUse], is_active: bool) -> Question:
    return Question(
        key=entry.key,
        origin=BUILT_IN,
        uses=uses,
        state="active" if is_active else "replaced",
        label=entry.label,
        type=entry.type,
        allowed_values=entry.allowed_values,
        purposes=_purposes(entry.targeted_advertising_safe),
    )


def _purposes(is_advertising_safe: bool) -> list[str]:
    return [purpose for purpose in PURPOSES if is_usable(is_advertising_safe, purpose)]
