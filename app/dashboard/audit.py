"""The audit page."""

from app.accounts.sessions import Login
from app.dashboard.pages import Page, PageBlueprint

audit = PageBlueprint("audit", has_login=True)


@audit.page("", "audit/page.html")
def list_entries(_: Login) -> Page:
    """Show the page."""
    return Page({})
