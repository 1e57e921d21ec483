"""The header of an envelope and the link to the discovery document are written as the vectors say."""

from agent_feedback import protocol_files
from agent_feedback.adapters.wsgi import WsgiAdapter
from agent_feedback.keys import base64url

from tests.sdk.site import Client, make_app
from tests.sdk.vectors.cases import Case, read_cases

HEADERS = protocol_files.read("contract.json")["headers"]


@read_cases("header", "json")
def test_a_header_is_written_as_the_vector_says(case: Case) -> None:
    value = base64url(case["input"]["json"].encode())
    assert (value if len(value) <= HEADERS["maxEnvelopeBytes"] else None) == case["expected"]


@read_cases("header", "endpoint")
def test_the_link_is_written_as_the_vector_says(case: Case) -> None:
    feedback = Client()
    feedback.options = feedback.options._replace(endpoint=case["input"]["endpoint"])
    assert WsgiAdapter(make_app(), feedback)._link == ("Link", case["expected"])
