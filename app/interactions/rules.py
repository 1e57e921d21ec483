"""What an interaction can be."""

SURFACES = ("http_json", "http_html", "http_headers", "mcp")
UNKNOWN_SURFACE = "unknown"
PENDING_OPERATION = "pending"
"""What stands in a placeholder until telemetry tells more."""

UNCLASSIFIED = "unclassified"
CONFIRMED = "confirmed"
CLASSIFICATIONS = (UNCLASSIFIED, CONFIRMED)

METHODS = ("mcp", "review", "report", "answer")
"""What confirmed an interaction: its own surface, or what an agent sent back."""

SESSION_SOURCES = ("customer", "mcp", "continuation")
HINT_SOURCES = ("http", "mcp")

OPERATION_PATTERN = r"^[^\s?#@\x00-\x1f\x7f-\x9f]+$"
REFERENCE_PATTERN = r"^[A-Za-z0-9_.:-]+$"
MAX_OPERATION_LENGTH = 160
MAX_REFERENCE_LENGTH = 160
MAX_HINT_LENGTH = 200
