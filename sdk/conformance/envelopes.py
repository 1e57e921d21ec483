"""What an envelope has to be, member by member, from the table of the protocol."""

import json
import re
import time
from datetime import UTC, datetime
from typing import Any

from conformance.protocol import (
    CONTRACT,
    ENVELOPE,
    INSTRUCTIONS,
    KEY,
    PATHS,
    TIME_ORDERED,
    from_b64u,
    read_claims,
    validate,
)
from conformance.wire import Response

CLOCK_TOLERANCE_S = 60

ELEMENT = re.compile(
    rb'<script id="%b" type="%b">(.*?)</script>'
    % (CONTRACT["html"]["envelopeId"].encode(), CONTRACT["html"]["type"].encode()),
    re.DOTALL,
)


def find(response: Response) -> dict[str, Any] | None:
    """Return the envelope of a response in whichever shape, or None; two of them are a failure."""
    envelopes = [json.loads(from_b64u(text)) for text in response.all(CONTRACT["headers"]["envelope"])]
    kind = (response.value("Content-Type") or "").lower()
    if "html" in kind:
        envelopes += [json.loads(text) for text in ELEMENT.findall(response.body)]
    elif "json" in kind and ENVELOPE.encode() in response.body:
        content = response.json()
        envelopes += [content[ENVELOPE]] if isinstance(content, dict) and ENVELOPE in content else []
    assert len(envelopes) < 2, "there is more than one envelope"
    return envelopes[0] if envelopes else None


def get(response: Response) -> dict[str, Any]:
    """Return the envelope of a response that has to have one."""
    envelope = find(response)
    assert envelope is not None, f"there is no envelope: {response}"
    return envelope


def token_of(envelope: dict[str, Any]) -> str:
    """Return the capability that every action of an envelope carries."""
    tokens = set(re.findall(r'"authorization": "Bearer ([^"]+)"', json.dumps(envelope)))
    assert len(tokens) == 1, "every action carries the same capability"
    return str(tokens.pop())


def check(
    envelope: dict[str, Any],
    state: str,
    endpoint: str,
    *,
    service_name: str = "Agent Feedback",
    reliability: str = "http",
    key: str = KEY,
) -> dict[str, Any]:
    """Compare an envelope with a row of `states`, and return the claims of its capability."""
    token = token_of(envelope)
    claims = read_claims(token, key)
    assert envelope == expected(state, endpoint, token, service_name, reliability)
    validate("envelope", envelope)
    assert abs(claims["iat"] - time.time()) < CLOCK_TOLERANCE_S
    milliseconds = int(claims["i"].replace("-", "")[:12], 16)
    assert abs(milliseconds / 1000 - time.time()) < CLOCK_TOLERANCE_S, "an interaction id begins with its time"
    assert TIME_ORDERED.fullmatch(claims["i"])
    return claims


def expected(state: str, endpoint: str, token: str, service_name: str, reliability: str) -> dict[str, Any]:
    """Return the envelope of a row of `states`."""
    row = CONTRACT["states"][state]
    expires_at = datetime.fromtimestamp(json.loads(from_b64u(token.split(".")[1]))["exp"], UTC)

    def action(path: str) -> dict[str, Any]:
        return {
            "url": endpoint + PATHS[path],
            "method": "POST",
            "authorization": f"Bearer {token}",
            "contentType": CONTRACT["contentType"],
        }

    decision = {**action("decisions"), "bodySchema": CONTRACT["decisionBody"]}
    question = INSTRUCTIONS["questions"].get(row.get("question"), "").replace("{service}", service_name)
    actions = {
        "submitOutcome": {**action("outcomes"), "bodySchema": CONTRACT["outcomeBody"]},
        "submit": {**action("reports"), "reportSchema": CONTRACT["reportSchema"]},
        "requiredAction": {"type": "ask_user", "question": question, "submitDecision": decision},
        "manageConsent": {"current": row.get("current"), **decision},
    }
    return {
        "v": CONTRACT["version"],
        **row["members"],
        "reliability": CONTRACT["reliability"][reliability],
        "instruction": INSTRUCTIONS[row["members"]["state"]],
        "privacy": INSTRUCTIONS["privacy"],
        "expiresAt": expires_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        **{name: actions[name] for name in row["actions"]},
    }
