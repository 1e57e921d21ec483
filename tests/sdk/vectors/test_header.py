"""The header of an envelope and the link to the discovery document are written as the vectors say."""

from agent_feedback.delivery import header_value

from tests.sdk.site import JSON, Client, fetch, make_app
from tests.sdk.vectors.cases import Case, read_cases


@read_cases("header", "json")
def test_a_header_is_written_as_the_vector_says(case: Case) -> None:
    assert header_value(case["input"]["json"]) == case["expected"]


@read_cases("header", "endpoint")
def test_the_link_is_written_as_the_vector_says(case: Case) -> None:
    feedback = Client(url=case["input"]["endpoint"])
    assert fetch(feedback.wsgi(make_app(headers=[JSON]))).get_all("Link") == [case["expected"]]
