"""Operations are normalized as the vectors say, and the service takes them."""

from agent_feedback.operation import normalize_named_operation, normalize_operation

from app.interactions import rules
from app.telemetry.schemas import TelemetryEventSchema
from tests.sdk.vectors.cases import Case, read_cases


@read_cases("operation", "path")
def test_a_path_is_normalized_as_the_vector_says(case: Case) -> None:
    assert normalize_operation(case["input"]["path"]) == case["expected"]


@read_cases("operation", "name")
def test_a_name_is_normalized_as_the_vector_says(case: Case) -> None:
    assert normalize_named_operation(case["input"]["name"]) == case["expected"]


@read_cases("operation", where=lambda case: case["expected"] is not None)
def test_the_service_takes_the_operation_of_a_vector_unchanged(case: Case) -> None:
    field = TelemetryEventSchema().fields["operation"]
    assert rules.normalize_operation(field.deserialize(case["expected"])) == case["expected"]
