"""The page of personalization: what became of decisions, by variant and by context."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from flask import request

from app.core.database.pages import Criteria
from app.customers.rules import PURPOSES
from app.dashboard.figures import Difference, Share, thousands
from app.dashboard.lists import FilterForm, ItemList, choice_filter, list_by_time, list_page, text_filter
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.personalization.queries import COUNTED_DECISIONS, DECISIONS_WITH_OUTCOMES, GroupCounts, count_groups
from app.personalization.rules import MAX_EXTERNAL_ID_LENGTH, OUTCOMES, POSITIVE_OUTCOMES
from app.personalization.schemas import DecisionWithOutcomeSchema

personalization_pages = PageBlueprint("personalization_pages", has_scope=True)

VARIANTS_SHOWN = 100

NO_VARIANT = "no variant"
CONTEXT_LABELS = {True: "with context", False: "without context"}


class DecisionFilters(FilterForm):
    """Which decisions are counted and listed, and what the others are compared with."""

    purpose = choice_filter("Purpose", PURPOSES)
    baseline = text_filter("Compare with", MAX_EXTERNAL_ID_LENGTH)
    variant = text_filter("Variant", MAX_EXTERNAL_ID_LENGTH, render_kw={"list": "variants"})
    outcome = choice_filter("Outcome", OUTCOMES)


class BaselineChoice(NamedTuple):
    """A group that the others can be compared with."""

    value: str
    """What the address has; empty for the one that is taken where it names none."""
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class GroupFigures:
    """A group of decisions, compared with the one that is the baseline."""

    label: str
    counts: GroupCounts
    baseline: GroupCounts | None

    @property
    def share(self) -> Share:
        """The share of decisions with an outcome whose last one is positive."""
        return positive_share(self.counts)

    @property
    def lift(self) -> Difference | None:
        """How much the share is above that of the baseline, which has none itself."""
        if self.baseline is None or self.baseline is self.counts:
            return None
        return Difference(self.share, positive_share(self.baseline))

    @property
    def outcomes_text(self) -> str:
        """How many decisions have each outcome as their last."""
        counts = [f"{thousands(count)} {name}" for name, count in self.counts.outcomes.items() if count]
        return ", ".join(counts) or "–"


@personalization_pages.page("", "personalization/page.html")
def show_personalization(scope: Scope) -> Page:
    """Show what became of the decisions of the product, and list them."""
    filters = DecisionFilters(request.args)
    values = filters.values()
    groups, is_complete = count_groups(scope.product.id, scope.first_at, values.get("purpose"))
    variants = [group for group in groups if group.is_of_variant and group.has_context is None][:VARIANTS_SHOWN]
    baseline = _find_baseline(variants, values.get("baseline"))
    return Page(
        {
            "filters_form": filters,
            "baseline_variant": baseline.variant if baseline else values.get("baseline"),
            "baseline_choices": _baseline_choices(variants, values.get("baseline")),
            "has_baseline": baseline is not None,
            "variants": [GroupFigures(group.variant or NO_VARIANT, group, baseline) for group in variants],
            "contexts": _by_context([group for group in groups if not group.is_of_variant]),
            "variant_contexts": _by_both(groups),
            "is_complete": is_complete,
            "counted": COUNTED_DECISIONS,
            "positive_outcomes": POSITIVE_OUTCOMES,
            "list": list_page(_list(scope, filters)),
        }
    )


@personalization_pages.export()
def export_decisions(scope: Scope) -> ItemList:
    """Export the list."""
    return _list(scope, DecisionFilters(request.args))


def positive_share(group: GroupCounts) -> Share:
    """Return the share of a group's decisions with an outcome whose last one is positive."""
    return Share(sum(group.outcomes[name] for name in POSITIVE_OUTCOMES), sum(group.outcomes.values()))


def _find_baseline(variants: Sequence[GroupCounts], name: str | None) -> GroupCounts | None:
    """Return the variant of a name; without one the decisions that have no variant, or else the most frequent one."""
    if name is not None:
        return next((group for group in variants if group.variant == name), None)
    return next((group for group in variants if group.variant is None), variants[0] if variants else None)


def _baseline_choices(variants: Sequence[GroupCounts], name: str | None) -> list[BaselineChoice]:
    """Return what the variants can be compared with, and what the address names, which may be none of them."""
    default = _find_baseline(variants, None)
    if default is None:
        return []
    label = NO_VARIANT if default.variant is None else f"{default.variant} (most decisions)"
    names = [group.variant for group in variants if group.variant is not None and group is not default]
    if name is not None and name not in (*names, default.variant):
        names.append(name)
    others = [BaselineChoice(entry, entry, entry == name) for entry in names]
    return [BaselineChoice("", label, name in (None, default.variant)), *others]


def _by_context(contexts: Sequence[GroupCounts]) -> list[GroupFigures]:
    """Compare decisions that were made from signals with those that were made without."""
    rows = sorted(contexts, key=lambda group: not group.has_context)
    baseline = next((group for group in rows if not group.has_context), None)
    return [GroupFigures(CONTEXT_LABELS[bool(group.has_context)], group, baseline) for group in rows]


def _by_both(groups: Sequence[GroupCounts]) -> list[GroupFigures]:
    """Compare within each variant."""
    rows = [group for group in groups if group.is_of_variant and group.has_context is not None]
    baselines = {group.variant: group for group in rows if not group.has_context}
    return [
        GroupFigures(
            f"{group.variant or NO_VARIANT}, {CONTEXT_LABELS[bool(group.has_context)]}",
            group,
            baselines.get(group.variant),
        )
        for group in sorted(rows, key=lambda group: (group.variant or "", not group.has_context))
    ][: 2 * VARIANTS_SHOWN]


def _list(scope: Scope, filters: DecisionFilters) -> ItemList:
    values = {name: value for name, value in filters.values().items() if name in DECISIONS_WITH_OUTCOMES.filters}
    criteria = Criteria(scope.product.id, since=scope.first_at, filters=values)
    return list_by_time("decisions", DECISIONS_WITH_OUTCOMES, DecisionWithOutcomeSchema, criteria)
