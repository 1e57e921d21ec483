"""The questions page."""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

questions = PageBlueprint("questions", has_scope=True)


@questions.page("", "questions/page.html")
def list_questions(_: Scope) -> Page:
    """Show the page."""
    return Page({})
