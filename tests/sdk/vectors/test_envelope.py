"""Envelopes are built as the vectors say, in every mode and state."""

import json
from typing import Any

from agent_feedback.envelope import EnvelopeContext, build, encode

from tests.sdk.vectors.cases import Case, read_cases


def context_of(content: dict[str, Any]) -> EnvelopeContext:
    return EnvelopeContext(
        content["endpoint"],
        content["capability"],
        content["expiresAt"],
        content["mode"],
        content["hasCustomer"],
        content["decision"],
        content["serviceName"],
    )


@read_cases("envelope")
def test_an_envelope_is_built_as_the_vector_says(case: Case) -> None:
    assert (build(context_of(case["input"])) or None) == case["expected"]


@read_cases("envelope")
def test_an_envelope_is_encoded_as_the_vector_says(case: Case) -> None:
    assert (json.loads(encode(context_of(case["input"]))) or None) == case["expected"]
