"""Members are spliced into JSON as the vectors say."""

from agent_feedback.json_splice import member_names, splice

from tests.sdk.vectors.cases import Case, allowed_results, body_of, read_cases


@read_cases("json_splice")
def test_a_member_is_spliced_as_the_vector_says(case: Case) -> None:
    body, name = body_of(case), case["input"]["member"]
    names = member_names(body)
    result = None if names is None or name in names else splice(body, {name: case["input"]["json"]}).decode()
    assert result in allowed_results(case)
