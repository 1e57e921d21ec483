"""Events, interaction ids and loss reports are made as the vectors say."""

from typing import Any

from agent_feedback.adapters.wsgi import WsgiRequest
from agent_feedback.interaction import Interaction
from agent_feedback.interaction_id import format_uuid, stamped_bytes
from agent_feedback.options import RequestCallback
from agent_feedback.telemetry.losses import LossReport

from app.telemetry.schemas import TelemetryBatchSchema
from tests.sdk.site import Client
from tests.sdk.vectors.cases import Case, read_cases

CALLBACKS = {"customer_ref": "customerRef", "session_ref": "sessionRef", "runtime_hint": "hint"}


def callback(text: str) -> RequestCallback:
    return lambda environ: text


@read_cases("telemetry", "interactionId")
def test_an_event_is_made_as_the_vector_says(case: Case) -> None:
    content: dict[str, Any] = dict(case["input"])
    texts = {option: content.pop(name) for option, name in CALLBACKS.items() if name in content}
    feedback = Client(**{option: callback(text) for option, text in texts.items()})
    interaction = Interaction(
        feedback._services,
        content["operation"],
        feedback.callbacks.references(WsgiRequest({})),
        surface=content["surface"],
        interaction_id=content["interactionId"],
    )
    interaction.occurred_at = content["issuedAtMs"] / 1000
    interaction.finish(status_code=content.get("statusCode"), duration_ms=content.get("durationMs"))
    assert feedback.events == [case["expected"]]
    assert TelemetryBatchSchema().accept({"events": feedback.events})


@read_cases("telemetry", "milliseconds")
def test_an_interaction_id_is_made_as_the_vector_says(case: Case) -> None:
    raw = stamped_bytes(case["input"]["milliseconds"], bytes.fromhex(case["input"]["randomness"]))
    assert format_uuid(raw) == case["expected"]


@read_cases("telemetry", "batchId")
def test_a_report_of_losses_is_written_as_the_vector_says(case: Case) -> None:
    report = LossReport(case["input"]["lost"], case["input"]["unanswered"])
    assert report.headers(case["input"]["batchId"]) == case["expected"]
