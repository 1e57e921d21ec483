"""The visits page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

visits = PageBlueprint("visits", has_scope=True)


@visits.page("", "visits/page.html")
def list_sessions(_: Scope) -> Page:
    """Show the page."""
    return Page({})
