"""Script elements are inserted into HTML as the vectors say."""

from agent_feedback.html_insert import insert_scripts, read_page

from tests.sdk.vectors.cases import Case, allowed_results, body_of, read_cases


@read_cases("html_insert")
def test_an_element_is_inserted_as_the_vector_says(case: Case) -> None:
    body, element_id = body_of(case), case["input"]["elementId"]
    page, result = read_page(body), None
    if page is not None and element_id.encode() not in page.ids:
        result = insert_scripts(body, page.offset, {element_id: case["input"]["json"]}).decode()
    assert result in allowed_results(case)
