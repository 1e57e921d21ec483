"""The variants page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

variants = PageBlueprint("variants", has_scope=True)


@variants.page("", "variants/page.html")
def show_variants(_: Scope) -> Page:
    """Show the page."""
    return Page({})
