"""The pages of interactions: the list, and one of them with everything that is known of it."""

import uuid

from flask import request
from werkzeug.wrappers import Response

from app.consent.queries import CONSENT_DECISIONS
from app.core.database.pages import Criteria
from app.dashboard.customer_context import find_customer_context
from app.dashboard.interaction_scope import redirect_to_environment
from app.dashboard.lists import FilterForm, ItemList, choice_filter, list_by_time, list_page, text_filter
from app.dashboard.neighbours import find_neighbours
from app.dashboard.operation_filter import list_operation_names, operation_filter
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope
from app.dashboard.timeline import list_moments
from app.interactions.queries import DETAILED_INTERACTIONS
from app.interactions.rules import (
    CLASSIFICATIONS,
    MAX_REFERENCE_LENGTH,
    SURFACES,
    UNKNOWN_SURFACE,
)
from app.interactions.schemas import DetailedInteractionSchema
from app.outcomes.rules import OUTCOMES
from app.reading import service as reading

interactions = PageBlueprint("interactions", has_scope=True)

STATUS_CLASSES = ("2xx", "3xx", "4xx", "5xx")


class InteractionFilters(FilterForm):
    """Which interactions are listed."""

    operation = operation_filter()
    surface = choice_filter("Surface", (*SURFACES, UNKNOWN_SURFACE))
    classification = choice_filter("Classification", CLASSIFICATIONS)
    outcome = choice_filter("Outcome", OUTCOMES)
    status = choice_filter("Status", STATUS_CLASSES)
    customer_ref = text_filter("Customer reference", MAX_REFERENCE_LENGTH)


@interactions.page("", "interactions/page.html")
def list_interactions(scope: Scope) -> Page:
    """List the interactions of the environment, newest first."""
    filters = InteractionFilters(request.args)
    page = list_page(_list(scope, filters))
    return Page({"filters_form": filters, "list": page, "operation_names": list_operation_names(scope)})


@interactions.export()
def export_interactions(scope: Scope) -> ItemList:
    """Export the list."""
    return _list(scope, InteractionFilters(request.args))


@interactions.page("/<uuid:interaction_id>", "interactions/interaction.html")
def show_interaction(scope: Scope, interaction_id: uuid.UUID) -> Page | Response:
    """Show an interaction with everything that happened around it."""
    if elsewhere := redirect_to_environment(scope, interaction_id):
        return elsewhere
    detail = reading.get_interaction(scope.environment.id, interaction_id)
    decision = CONSENT_DECISIONS.find(scope.environment.id, interaction_id, scope.kept_since)
    context = find_customer_context(scope, interaction_id, detail.interaction.received_at)
    return Page(
        {
            "interaction": detail.interaction,
            "review": detail.review,
            "report": detail.report,
            "moments": list_moments(detail, decision, context),
            "neighbours": find_neighbours(scope, detail.interaction),
        }
    )


def _list(scope: Scope, filters: InteractionFilters) -> ItemList:
    criteria = Criteria(scope.environment.id, since=scope.since, filters=filters.values())
    return list_by_time("interactions", DETAILED_INTERACTIONS, DetailedInteractionSchema, criteria, is_counted=True)
