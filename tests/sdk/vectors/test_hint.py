"""Runtime hints are cut as the vectors say."""

from agent_feedback.runtime_hint import clean_hint, user_agent_hint

from tests.sdk.vectors.cases import Case, read_cases


@read_cases("hint", "userAgent")
def test_a_user_agent_is_cut_as_the_vector_says(case: Case) -> None:
    assert user_agent_hint(case["input"]["userAgent"]) == case["expected"]


@read_cases("hint", "text")
def test_a_text_is_cleaned_as_the_vector_says(case: Case) -> None:
    assert clean_hint(case["input"]["text"]) == case["expected"]
