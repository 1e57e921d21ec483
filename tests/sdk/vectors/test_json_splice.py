"""Members are spliced into JSON as the vectors say."""

from agent_feedback.json_splice import read_value, splice

from tests.sdk.vectors.cases import Case, allowed_results, body_of, read_cases


@read_cases("json_splice")
def test_a_member_is_spliced_as_the_vector_says(case: Case) -> None:
    body, name = body_of(case), case["input"]["member"]
    content = read_value(body)
    has_room = isinstance(content, dict) and name not in content
    result = splice(body, {name: case["input"]["json"]}).decode() if has_room else None
    assert result in allowed_results(case)
