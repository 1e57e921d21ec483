"""Check an envelope against the one that the protocol has for its state."""

import base64
import re
from collections.abc import Iterator, Mapping
from typing import Any

from agent_feedback import protocol_files
from agent_feedback.agent.json_reader import read_json
from agent_feedback.envelope import EnvelopeContext, build

_CONTRACT: dict[str, Any] = protocol_files.read("contract.json")
_MAX_TIME = 253_402_300_799
"""The end of the year 9999, in seconds since 1970."""
_ACTIONS = ("submitOutcome", "submit", "manageConsent")
_QUESTION = re.compile(
    "|".join(
        re.escape(text).replace(re.escape("{service}"), ".+")
        for text in protocol_files.read("instructions.json")["questions"].values()
    )
)


def find_problems(content: Mapping[str, Any]) -> list[str]:
    """Return how an envelope differs from the protocol's; empty for one that is as it should be."""
    state = _find_state(content)
    if state is None:
        return ["its state and mode are in no row of the protocol's table of states"]
    url, capability = find_endpoint(content), find_capability(content)
    claims = read_claims(capability)
    if url is None or claims is None:
        return ["it has no action with an address and a capability"]
    applies = state["applies"]
    context = EnvelopeContext(
        url,
        capability,
        claims["exp"],
        applies["mode"],
        has_customer=applies.get("hasCustomer", False),
        decision=applies.get("decision", "unknown"),
    )
    return list(_differences(content, build(context)))


def find_capability(content: Mapping[str, Any]) -> str:
    """Return the capability of an envelope, or an empty text."""
    for action in _actions(content):
        authorization = action.get("authorization")
        if isinstance(authorization, str):
            return authorization.removeprefix("Bearer ")
    return ""


def find_endpoint(content: Mapping[str, Any]) -> str | None:
    """Return the address of the service that an envelope names, or None."""
    for action in _actions(content):
        url = action.get("url")
        for path in _CONTRACT["paths"].values():
            if isinstance(url, str) and url.endswith(path):
                return url.removesuffix(path)
    return None


def read_claims(capability: str) -> dict[str, Any] | None:
    """Return the claims of a capability, unverified, or None for a text that is none."""
    parts = capability.split(".")
    if len(parts) != 3 or not parts[0].startswith(_CONTRACT["capability"]["prefix"]):
        return None
    try:
        claims = read_json(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None
    if not isinstance(claims, dict) or not isinstance(claims.get("i"), str):
        return None
    expires_at = claims.get("exp")
    return claims if isinstance(expires_at, int) and 0 <= expires_at <= _MAX_TIME else None


def _find_state(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the row of the table of states whose members the envelope has, of several the one with most members."""
    states: dict[str, dict[str, Any]] = _CONTRACT["states"]
    rows = [row for row in states.values() if all(content.get(name) == value for name, value in row["members"].items())]
    return max(rows, key=lambda row: len(row["members"]), default=None)


def _actions(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    required_action = content.get("requiredAction")
    question = required_action.get("submitDecision") if isinstance(required_action, dict) else None
    actions = (*(content.get(name) for name in _ACTIONS), question)
    yield from (action for action in actions if isinstance(action, dict))


def _differences(content: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name} is missing" for name in expected if name not in content)
    yield from (f"{name} is not of the protocol" for name in content if name not in expected)
    for name in expected.keys() & content.keys():
        value = content[name]
        if name == "reliability":
            is_right = value in _CONTRACT["reliability"].values()
        elif name == "requiredAction":
            is_right = _is_required_action(value, expected[name])
        else:
            is_right = value == expected[name]
        if not is_right:
            yield f"{name} is not as the protocol has it"


def _is_required_action(action: Any, expected: Mapping[str, Any]) -> bool:
    """Tell whether an action asks one of the protocol's questions; the name of the service may be any."""
    if not isinstance(action, dict) or not isinstance(action.get("question"), str):
        return False
    return bool(_QUESTION.fullmatch(action["question"])) and {**action, "question": expected["question"]} == expected
