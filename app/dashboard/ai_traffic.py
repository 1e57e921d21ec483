"""The ai traffic page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

ai_traffic = PageBlueprint("ai_traffic", has_scope=True)


@ai_traffic.page("", "ai_traffic/page.html")
def show_traffic(_: Scope) -> Page:
    """Show the page."""
    return Page({})
