"""The interaction of a context retry is signed and recognised as the vectors say."""

from agent_feedback.context.interaction import _signature, is_signed_interaction_id
from agent_feedback.interaction_id import format_uuid, stamped_bytes
from agent_feedback.keys import CompanyKey

from tests.sdk.vectors.cases import Case, read_cases


@read_cases("context_interaction", "interactionId")
def test_an_interaction_id_is_recognised_as_the_vector_says(case: Case) -> None:
    content = case["input"]
    result = is_signed_interaction_id(content["interactionId"], CompanyKey(content["companyKey"]), content["route"])
    assert result is case["expected"]


@read_cases("context_interaction", "milliseconds")
def test_an_interaction_id_is_signed_as_the_vector_says(case: Case) -> None:
    content = case["input"]
    head = stamped_bytes(content["milliseconds"], bytes.fromhex(content["randomness"]))
    interaction_id = format_uuid(head + _signature(CompanyKey(content["companyKey"]), head, content["route"]))
    assert interaction_id == case["expected"]
    assert is_signed_interaction_id(interaction_id, CompanyKey(content["companyKey"]), content["route"])
