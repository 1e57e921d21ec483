"""Names that no body may use as a key, at any depth: what they announce must never be sent."""

import re
from typing import Any

from app.core.errors import MOST_PROBLEMS, BadRequest, Problem

FORBIDDEN_KEYS = frozenset(
    [
        "prompt",
        "prompts",
        "transcript",
        "messages",
        "raw_input",
        "raw_output",
        "tool_input",
        "tool_output",
        "secret",
        "api_key",
        "authorization",
        "customer_data",
        "email",
        "name",
        "user",
        "user_data",
        "personal_data",
    ]
)

FORBIDDEN_CONTENT = "forbidden_content"

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find_forbidden_keys(payload: Any) -> list[str]:
    """Return the JSON pointers of the forbidden keys, as many as one answer names."""
    found: list[str] = []
    waiting: list[tuple[str, Any]] = [("", payload)]
    while waiting and len(found) < MOST_PROBLEMS:
        pointer, value = waiting.pop()
        if isinstance(value, dict):
            for key, inner in value.items():
                if _reads_as_forbidden(key):
                    found.append(f"{pointer}/{key}")
                elif isinstance(inner, (dict, list)):
                    # The name of an unknown key may be anything, a secret too; it is not repeated.
                    waiting.append((f"{pointer}/{key}" if key.isidentifier() and len(key) < 40 else pointer, inner))
        elif isinstance(value, list):
            waiting.extend((f"{pointer}/{index}", inner) for index, inner in enumerate(value))
    return sorted(found)


def refuse_forbidden_keys(payload: Any) -> None:
    """Raise if a decoded body has a forbidden key."""
    if pointers := find_forbidden_keys(payload):
        raise BadRequest(
            "The body has fields for content that must never be sent here, such as prompts or personal data.",
            code=FORBIDDEN_CONTENT,
            problems=[Problem(pointer, FORBIDDEN_CONTENT, "Leave this out.") for pointer in pointers],
        )


def _reads_as_forbidden(key: str) -> bool:
    plain = key.replace("-", "_")
    return plain.lower() in FORBIDDEN_KEYS or _WORD_BORDER.sub("_", plain).lower() in FORBIDDEN_KEYS
