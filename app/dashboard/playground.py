"""The playground: a page on which the demo company and an agent talk, and the steps that its script calls."""

import uuid

from app.core.settings import current_settings
from app.dashboard.demo_company import DemoCompany, Exchange
from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.queries import NoSuchInteraction, Record, get_interaction_record

# Without form tokens: there is no session, and only the demo workspace can be changed.
playground = PageBlueprint("playground", has_forms=False)


@playground.page("", "playground/page.html")
def show_playground() -> Page:
    """Show both loops, step by step."""
    DemoCompany(current_settings())  # a 404 where there is no demo company
    return Page({})


@playground.step("/product", "POST")
def show_order() -> Exchange:
    """Answer as the demo product."""
    return DemoCompany(current_settings()).show_order()


@playground.step("/telemetry/<uuid:interaction_id>", "POST")
def send_telemetry(interaction_id: uuid.UUID) -> Exchange:
    """Send the demo product's telemetry."""
    return DemoCompany(current_settings()).send_telemetry(interaction_id)


@playground.step("/interactions/<uuid:interaction_id>", "GET")
def show_interaction(interaction_id: uuid.UUID) -> Record | None:
    """Return what is stored of a demo interaction; null while nothing is."""
    try:
        return get_interaction_record(DemoCompany(current_settings()).environment_id, interaction_id)
    except NoSuchInteraction:
        return None


@playground.step("/shoes", "POST")
def show_shoes() -> Exchange:
    """Answer as the demo shop, with a request for context."""
    return DemoCompany(current_settings()).show_shoes()


@playground.step("/shoes/<user_ref>", "POST")
def rank_shoes(user_ref: str) -> Exchange:
    """Answer as the demo shop, ranked by the customer's context."""
    return DemoCompany(current_settings()).rank_shoes(user_ref)
