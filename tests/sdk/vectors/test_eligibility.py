"""Responses are eligible as the vectors say."""

from agent_feedback.eligibility import index_headers, is_eligible, kind_of

from tests.sdk.vectors.cases import Case, read_cases


@read_cases("eligibility")
def test_a_response_is_eligible_as_the_vector_says(case: Case) -> None:
    status, headers = case["input"]["status"], index_headers(map(tuple, case["input"]["headers"]))
    kind = kind_of(headers) if is_eligible(status, headers, "private") else None
    assert kind == case["expected"]
