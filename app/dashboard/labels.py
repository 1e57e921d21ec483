"""What pages call the values of the wire, which stay as they are in forms, addresses and exports."""

from collections.abc import Iterable

from wtforms.fields.choices import SelectChoice

from app.enrichment.rules import CURRENT_TASK, INFERENCE, STATEMENT

LABELS = {
    "http_json": "HTTP, JSON",
    "http_html": "HTTP, HTML",
    "http_headers": "HTTP, headers",
    "mcp": "MCP",
    "source_attested": "source-attested",
    "wont_act": "won’t act",
    "cdn_log": "CDN log",
    "published_ip_range": "published IP range",
    STATEMENT: "user’s statement, reported by the agent",
    CURRENT_TASK: "current task, reported by the agent",
    INFERENCE: "agent’s inference",
    "userRef": "user reference",
    "accountRef": "account reference",
    "anonymousRef": "anonymous reference",
}
"""Of values that read badly without their underscores."""


def label(value: object) -> str:
    """Return what a value of the wire is called."""
    return LABELS.get(str(value)) or str(value).replace("_", " ")


def choices_of(values: Iterable[str]) -> list[SelectChoice]:
    """Return the choices of a field, whose values are those of the wire."""
    return [SelectChoice(value, label(value)) for value in values]
