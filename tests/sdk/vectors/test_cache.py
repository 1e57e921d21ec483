"""Cache modes decide as the vectors say."""

from agent_feedback.adapters.wsgi import WsgiRequest

from tests.sdk.site import Client
from tests.sdk.vectors.cases import Case, read_cases


@read_cases("cache")
def test_a_cache_mode_decides_as_the_vector_says(case: Case) -> None:
    content = case["input"]
    headers = [(name, value) for name, value in content["headers"]]
    target = content.get("target", "/orders")
    environ = {
        "REQUEST_METHOD": content.get("method", "GET"),
        "PATH_INFO": target.partition("?")[0],
        "QUERY_STRING": target.partition("?")[2],
        **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in content.get("requestHeaders", [])},
    }
    instrumentation = Client(cache_mode=content["cacheMode"])._instrumentation()
    head = instrumentation.read_head(WsgiRequest(environ), None, 200, headers)
    has_envelope = head is not None and head.carries_envelope
    added_headers = [] if head is None else [list(header) for header in head.headers[len(headers) :]]
    assert {"hasEnvelope": has_envelope, "addedHeaders": added_headers} == case["expected"]
