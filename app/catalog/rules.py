"""Bounds of a field, and the canonical types."""

CANONICAL_TYPES = ("intent", "preference", "constraint", "interest")
FALLBACK_TYPE = "preference"

KEY_PATTERN = r"^[a-z][a-z0-9_]{0,30}\.[a-z][a-z0-9_]{0,46}$"
RESERVED_NAMESPACE = "service"
TYPE_PATTERN = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
MAX_TYPE_LENGTH = 48
VALUE_PATTERN = r"^([0-9]*[a-z][a-z0-9]*(_[a-z0-9]+)*|[0-9]+(_[a-z0-9]+)+)$"
"""Lowercase snake_case with a letter or an underscore: a bare number is refused. Go and Rust have no look-ahead."""
MAX_VALUE_LENGTH = 64
MAX_KEY_LENGTH = 79
MIN_LABEL_LENGTH = 3
MAX_LABEL_LENGTH = 120
MAX_VALUES = 32
MAX_OPERATIONS = 32
MAX_FIELDS = 64
"""Of one product."""


def canonical_type(authored_type: str) -> str:
    """Return the type that an answer submits for a field whose type the product has named itself."""
    return authored_type if authored_type in CANONICAL_TYPES else FALLBACK_TYPE
