"""The customers page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

customers = PageBlueprint("customers", has_scope=True)


@customers.page("", "customers/page.html")
def show_search(_: Scope) -> Page:
    """Show the page."""
    return Page({})
