"""The team page."""

from app.accounts.sessions import Login
from app.dashboard.pages import Page, PageBlueprint

team = PageBlueprint("team", has_login=True)


@team.page("", "team/page.html")
def list_members(_: Login) -> Page:
    """Show the page."""
    return Page({})
