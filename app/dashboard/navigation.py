"""The navigation: the pages that every page links to."""

from typing import NamedTuple


class NavigationLink(NamedTuple):
    """A page, the text of its link and the name of its icon (Heroicons)."""

    endpoint: str
    label: str
    icon: str


NAVIGATION: tuple[tuple[str, tuple[NavigationLink, ...]], ...] = (
    (
        "What agents experienced",
        (
            NavigationLink("home.show_home", "Home", "home"),
            NavigationLink("feedback.list_feedback", "Feedback", "chat-bubble-left-right"),
            NavigationLink("operations.list_operations", "Operations", "wrench-screwdriver"),
            NavigationLink("interactions.list_interactions", "Interactions", "arrows-right-left"),
            NavigationLink("sessions.list_sessions", "Sessions", "queue-list"),
        ),
    ),
    (
        "Customers and traffic",
        (
            NavigationLink("questions.list_questions", "Questions", "question-mark-circle"),
            NavigationLink("customers.show_search", "Customers", "users"),
            NavigationLink("personalization_pages.show_personalization", "Personalization", "adjustments-horizontal"),
            NavigationLink("ai_traffic.show_traffic", "AI traffic", "globe-alt"),
        ),
    ),
    (
        "How it is set up",
        (
            NavigationLink("keys.list_keys", "Keys", "key"),
            NavigationLink("settings.show_settings", "Settings", "cog-6-tooth"),
            NavigationLink("set_up.show_guide", "Set-up", "rocket-launch"),
            NavigationLink("team.list_members", "Team", "user-group"),
            NavigationLink("audit.list_entries", "Audit", "clipboard-document-list"),
        ),
    ),
)


TABS = ("feedback.list_findings",)
"""Pages of a section beside its first one that show any environment and any days."""


def section_of(endpoint: str | None) -> NavigationLink | None:
    """Return the link of the section that a page belongs to, which is that of its blueprint."""
    blueprint = (endpoint or "").partition(".")[0]
    links = (link for _, group in NAVIGATION for link in group)
    return next((link for link in links if link.endpoint.partition(".")[0] == blueprint), None)


def scope_endpoint(endpoint: str | None) -> str:
    """Return the page that a reader of a page comes to who chooses another environment or other days."""
    if endpoint in TABS:
        return endpoint
    section = section_of(endpoint)
    return section.endpoint if section else NAVIGATION[0][1][0].endpoint
