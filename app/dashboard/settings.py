"""The settings page."""

from app.accounts.sessions import Login
from app.dashboard.pages import Page, PageBlueprint

settings = PageBlueprint("settings", has_login=True)


@settings.page("", "settings/page.html")
def show_settings(_: Login) -> Page:
    """Show the page."""
    return Page({})
