"""Forbidden keys of bodies, at any depth: they name content that must never be sent."""

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

MAX_REPEATED_KEY_LENGTH = 40


def _letters(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()


# toolInput, TOOL-INPUT and tool_input are the same key.
_FORBIDDEN = frozenset(map(_letters, FORBIDDEN_KEYS))


Location = tuple[Any, str] | None
"""Where a value is: the location of its parent and its own key. Pointers are built only for forbidden keys."""


def find_forbidden_keys(payload: Any) -> list[str]:
    """Return the JSON pointers of the forbidden keys, at most as many as one error lists."""
    pointers: list[str] = []
    stack: list[tuple[Location, Any]] = [(None, payload)] if isinstance(payload, (dict, list)) else []
    while stack and len(pointers) < MAX_PROBLEMS:
        location, container = stack.pop()
        for key, value in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(key, str) and _letters(key) in _FORBIDDEN:
                pointers.append(_pointer((location, key)))
            elif isinstance(value, (dict, list)):
                stack.append(((location, _repeatable(key)), value))
    return sorted(pointers[:MAX_PROBLEMS])


def _repeatable(key: str | int) -> str:
    """Return a key as an error may repeat it: empty unless it is an index or a short identifier.

    Any other key may be anything, a secret included.
    """
    is_repeatable = isinstance(key, int) or (key.isidentifier() and len(key) < MAX_REPEATED_KEY_LENGTH)
    return str(key) if is_repeatable else ""


def _pointer(location: Location) -> str:
    parts = []
    while location is not None:
        location, key = location
        if key:
            parts.append(key)
    return "".join(f"/{key}" for key in reversed(parts))


def refuse_forbidden_keys(payload: Any) -> None:
    """Raise `BadRequest` if a decoded body has a forbidden key."""
    if pointers := find_forbidden_keys(payload):
        raise BadRequest(
            "The body has fields for content that must never be sent here, such as prompts or personal data.",
            code=FORBIDDEN_CONTENT,
            problems=[Problem(pointer, FORBIDDEN_CONTENT, "Leave this out.") for pointer in pointers],
        )
