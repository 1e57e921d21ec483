"""The home page: did it work for agents, and what should be fixed next?"""

from app.dashboard.pages import Page, PageBlueprint
from app.dashboard.scope import Scope

home = PageBlueprint("home", has_scope=True)


@home.page("/", "home/page.html")
def show_home(_: Scope) -> Page:
    """Show how the environment does."""
    return Page({})
