"""Cache modes decide as the vectors say."""

from agent_feedback.eligibility import index_headers, is_eligible
from agent_feedback.options import CACHE_MODES

from tests.sdk.vectors.cases import Case, read_cases


# What a mode does is checked from the moment that the package has it.
@read_cases("cache", where=lambda case: case["input"]["cacheMode"] in CACHE_MODES)
def test_a_cache_mode_decides_as_the_vector_says(case: Case) -> None:
    content = case["input"]
    has_envelope = is_eligible(200, index_headers(map(tuple, content["headers"])), content["cacheMode"])
    assert {"hasEnvelope": has_envelope, "addedHeaders": []} == case["expected"]
