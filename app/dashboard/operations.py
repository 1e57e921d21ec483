"""The operations page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

operations = PageBlueprint("operations", has_scope=True)


@operations.page("", "operations/page.html")
def list_operations(_: Scope) -> Page:
    """Show the page."""
    return Page({})
