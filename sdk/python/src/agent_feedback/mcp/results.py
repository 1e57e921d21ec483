"""Results of tools, as JSON: what is complete, and where members of this library go."""

import json
from typing import Any

from pydantic import BaseModel

Result = dict[str, Any]

FIRST_VERSION_WITH_STRUCTURED_CONTENT = "2025-06-18"
"""Clients of an older version of the protocol read the content only."""


def as_json(result: Any) -> Result:
    """Return a handler's result as JSON; empty for anything that is none."""
    if isinstance(result, BaseModel):
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return result if isinstance(result, dict) else {}


def is_complete(result: Result) -> bool:
    """Tell whether a result ends its call: it is no task, and asks for no further input."""
    return isinstance(result.get("content"), list) and result.get("resultType", "complete") == "complete"


def member_names(result: Result) -> set[str]:
    """Return the names of the members that a result's structured content has of its own."""
    structured_content = result.get("structuredContent")
    return set(structured_content) if isinstance(structured_content, dict) else set()


def add_members(result: Result, members: Result, *, has_output_schema: bool, version: str) -> Result:
    """Return a result with further members: in its structured content, or in a text block of their own.

    Many clients show a model the structured content instead of the content, so one that is added has the tool's text
    as `result`; where the content is more than text, nothing may hide it.
    """
    structured_content = _structured_content(result)
    is_read = version >= FIRST_VERSION_WITH_STRUCTURED_CONTENT
    if structured_content is not None and is_read and not has_output_schema:
        return {**result, "structuredContent": {**structured_content, **members}}
    block = {"type": "text", "text": json.dumps(members, separators=(",", ":"))}
    return {**result, "content": [*result["content"], block]}


def _structured_content(result: Result) -> Result | None:
    """Return the structured content to add members to; None where there can be none."""
    structured_content = result.get("structuredContent")
    if structured_content is not None:
        return structured_content if isinstance(structured_content, dict) else None
    content = result["content"]
    if any(block.get("type") != "text" for block in content):
        return None
    return {"result": "\n".join(block["text"] for block in content)} if content else {}
