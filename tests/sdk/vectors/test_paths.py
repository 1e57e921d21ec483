"""Path patterns match as the vectors say."""

from agent_feedback.eligibility import PathRules

from tests.sdk.vectors.cases import Case, read_cases


@read_cases("paths")
def test_patterns_match_as_the_vector_says(case: Case) -> None:
    rules = PathRules(case["input"]["include"], case["input"]["exclude"])
    assert rules.covers(case["input"]["path"]) is case["expected"]
