"""Script elements are inserted into HTML as the vectors say."""

import json

from agent_feedback.html_insert import find_insertion_point, insert_script

from tests.sdk.vectors.cases import Case, allowed_results, body_of, read_cases


@read_cases("html_insert")
def test_an_element_is_inserted_as_the_vector_says(case: Case) -> None:
    body, element_id = body_of(case), case["input"]["elementId"]
    offset = find_insertion_point(body, element_id)
    result = None
    if offset is not None:
        result = insert_script(body, offset, element_id, json.loads(case["input"]["json"])).decode()
    assert result in allowed_results(case)
