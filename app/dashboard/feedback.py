"""The feedback page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

feedback = PageBlueprint("feedback", has_scope=True)


@feedback.page("", "feedback/page.html")
def list_feedback(_: Scope) -> Page:
    """Show the page."""
    return Page({})
