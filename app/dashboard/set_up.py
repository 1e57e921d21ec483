"""The set up page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

set_up = PageBlueprint("set_up", has_scope=True)


@set_up.page("", "set_up/page.html")
def show_guide(_: Scope) -> Page:
    """Show the page."""
    return Page({})
