"""Rules of interactions: surfaces, classifications and operations."""

import re

SURFACES = ("http_json", "http_html", "http_headers", "mcp")
UNKNOWN_SURFACE = "unknown"
PENDING_OPERATION = "pending"
"""The operation of a placeholder, until telemetry names another."""

UNCLASSIFIED = "unclassified"
CONFIRMED = "confirmed"
CLASSIFICATIONS = (UNCLASSIFIED, CONFIRMED)

METHODS = ("mcp", "review", "report", "answer")
"""What confirmed an interaction: its own surface, or what an agent sent back."""

SESSION_SOURCES = ("customer", "mcp", "continuation")
HINT_SOURCES = ("http", "mcp")

_EXCLUDED = r"\s?#@%\x00-\x1f\x7f-\x9f"
# What may follow a percent sign: no escape of a control character, white space, `#`, `?` or `@`. It is spelled out
# because the regular expressions of Go and Rust have no look-ahead; no two parts can match the same text.
_ESCAPED = (
    rf"%(?:[0-4]?%)*(?:[^{_EXCLUDED}0-4]|[01][^{_EXCLUDED}0-9A-Fa-f]|2[^{_EXCLUDED}03]"
    rf"|3[^{_EXCLUDED}Ff]|4[^{_EXCLUDED}0])"
)
OPERATION_PATTERN = rf"^[^{_EXCLUDED}]*(?:{_ESCAPED}[^{_EXCLUDED}]*)*(?:%(?:[0-4]?%)*[0-4]?)?$"
"""No white space, `?`, `#`, `@` or control character, be it written out or percent-encoded."""
REFERENCE_PATTERN = r"^[A-Za-z0-9_.:-]+$"
MAX_OPERATION_LENGTH = 160
MAX_REFERENCE_LENGTH = 160
MAX_HINT_LENGTH = 200

_VARIABLE_SEGMENT = re.compile(
    r"(?<![^/])(?:[0-9]+|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?![^/])", re.ASCII | re.IGNORECASE
)


def normalize_operation(operation: str) -> str:
    """Return an operation with `:id` for every segment that is a UUID or a number, as SDKs send it."""
    return _VARIABLE_SEGMENT.sub(":id", operation)[:MAX_OPERATION_LENGTH]
