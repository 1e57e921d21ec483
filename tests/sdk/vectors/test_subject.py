"""Consent subjects are named as the vectors say."""

from agent_feedback.capability import consent_subject

from tests.sdk.vectors.cases import Case, read_cases


@read_cases("subject")
def test_a_subject_is_named_as_the_vector_says(case: Case) -> None:
    assert consent_subject(case["input"]["scope"], case["input"]["customerRef"]) == case["expected"]
