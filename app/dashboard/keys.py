"""The keys page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

keys = PageBlueprint("keys", has_scope=True)


@keys.page("", "keys/page.html")
def list_keys(_: Scope) -> Page:
    """Show the page."""
    return Page({})
