"""What the OpenTelemetry event of a review holds, by the semantic conventions of generative AI.

https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-events.md, of 2026-11. The
names stand here, since the package of conventions declares them deprecated (they have moved) and none of it is needed.
"""

import uuid

EVENT_NAME = "gen_ai.evaluation.result"
EVALUATION_NAME = "agent_feedback.outcome"

SCORES = {"success": 1.0, "partial": 0.5, "failure": 0.0}
"""The score of each outcome."""


def build_attributes(
    environment_id: uuid.UUID, review_id: uuid.UUID, interaction_id: uuid.UUID, outcome: str
) -> dict[str, str | float]:
    """Return the attributes of the event of a review."""
    return {
        "gen_ai.evaluation.name": EVALUATION_NAME,
        "gen_ai.evaluation.score.value": SCORES[outcome],
        "gen_ai.evaluation.score.label": outcome,
        # The convention identifies what was evaluated by it where no span is known.
        "gen_ai.response.id": str(interaction_id),
        # By this a collector recognises an event that it was sent twice.
        "log.record.uid": str(review_id),
        "agent_feedback.environment.id": str(environment_id),
    }


EXPLANATION = "gen_ai.evaluation.explanation"
"""The note, only where it is exported."""

OPERATION = "agent_feedback.operation"
"""The operation of the interaction, once telemetry has named it."""
