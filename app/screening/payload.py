"""Names that no body may use as a key, at any depth: what they announce must never be sent."""

from typing import Any

from app.core.errors import MAX_PROBLEMS, BadRequest, Problem

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

LONGEST_SHOWN = 40


def _letters(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()


# toolInput, TOOL-INPUT and tool_input read the same.
_FORBIDDEN = frozenset(map(_letters, FORBIDDEN_KEYS))


Place = tuple[Any, str] | None
"""Where a value is: its parent's place and its own name; the text is made only for what is found."""


def find_forbidden_keys(payload: Any) -> list[str]:
    """Return the JSON pointers of the forbidden keys, as many as one answer names."""
    found: list[str] = []
    waiting: list[tuple[Place, Any]] = [(None, payload)] if isinstance(payload, (dict, list)) else []
    while waiting and len(found) < MAX_PROBLEMS:
        place, value = waiting.pop()
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(key, str) and _letters(key) in _FORBIDDEN:
                found.append(_pointer((place, key)))
            elif isinstance(inner, (dict, list)):
                waiting.append(((place, _shown(key)), inner))
    return sorted(found[:MAX_PROBLEMS])


def _shown(key: str | int) -> str:
    """Return a key as it may be repeated: a name that somebody made up may be anything, a secret too."""
    return str(key) if isinstance(key, int) or (key.isidentifier() and len(key) < LONGEST_SHOWN) else ""


def _pointer(place: Place) -> str:
    parts = []
    while place is not None:
        place, name = place
        if name:
            parts.append(name)
    return "".join(f"/{name}" for name in reversed(parts))


def refuse_forbidden_keys(payload: Any) -> None:
    """Raise if a decoded body has a forbidden key."""
    if pointers := find_forbidden_keys(payload):
        raise BadRequest(
            "The body has fields for content that must never be sent here, such as prompts or personal data.",
            code=FORBIDDEN_CONTENT,
            problems=[Problem(pointer, FORBIDDEN_CONTENT, "Leave this out.") for pointer in pointers],
        )
