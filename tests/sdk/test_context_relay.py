"""The relay forwards a handle and a short list of values, and answers for everything else itself."""

import io
import json
import re
from collections.abc import Iterable
from typing import Any

import pytest
from agent_feedback import http, protocol_files, relay
from agent_feedback.relay import RelayError, read_body, rewrite_urls

from tests.sdk.endpoint import COMPANY_KEY, HANG_UP, KEY, Endpoint, Reply, closed_port
from tests.sdk.shop import HANDLE, AskingClient, question, replying
from tests.sdk.site import App, Seen, answering, fetch
from tests.sdk.test_conformance import VECTORS

ANSWERS = "/_service/v1/enrichment/answers"
CONSENT = "/_service/v1/enrichment/consent"
ITEM = {"key": "shopping.priority", "type": "preference", "value": "price", "provenance": "agent_inference"}
ANSWER = {"status": "answered", "items": [ITEM]}

Vector = dict[str, Any]
RELAY: dict[str, Any] = VECTORS["relay"]  # type: ignore[assignment]


def no_product(environ: Any, start_response: Any) -> Iterable[bytes]:
    raise AssertionError("the product's own code ran")


@pytest.fixture
def app(endpoint: Endpoint) -> App:
    endpoint.usual = replying({"accepted": True})
    return AskingClient(endpoint.url).wsgi(no_product)


def post(app: App, path: str = ANSWERS, body: Any = ANSWER, handle: str | None = HANDLE, **environ: Any) -> Seen:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    told = {} if handle is None else {"HTTP_AUTHORIZATION": f"Bearer {handle}"}
    request = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(text)), "wsgi.input": io.BytesIO(text)}
    return fetch(app, path, **{**request, **told, **environ})


def refused(seen: Seen) -> tuple[int, str]:
    assert seen.all("Cache-Control") == ["private, no-store"]
    assert seen.all("Content-Type") == ["application/json"]
    content = json.loads(seen.body)
    assert isinstance(content["error"], str)
    return int(seen.status[:3]), content["code"]


@pytest.mark.parametrize(
    ("path", "body", "upstream"),
    [
        (ANSWERS, ANSWER, "/api/v2/enrichment/answers"),
        (CONSENT, {"decision": "approved", "remember": True}, "/api/v2/enrichment/consent/decisions"),
    ],
)
def test_a_handle_and_a_body_are_forwarded_and_nothing_else(
    endpoint: Endpoint, app: App, path: str, body: Any, upstream: str
) -> None:
    more = {
        "HTTP_COOKIE": "session=secret",
        "HTTP_X_SECRET": "secret",
        "QUERY_STRING": "secret=1",
        "HTTP_USER_AGENT": "secret",
        "CONTENT_TYPE": "text/plain",
    }
    seen = post(app, path, body, **more)
    assert (seen.status, json.loads(seen.body)) == ("200 OK", {"accepted": True})
    assert seen.all("Cache-Control") == ["private, no-store"]
    (request,) = endpoint.received
    assert (request.method, request.path, request.content) == ("POST", upstream, body)
    assert request.headers.pop("Authorization") == f"Bearer {HANDLE}"
    assert request.headers.keys() == {"Host", "Accept-Encoding", "Content-Type", "Content-Length", "User-Agent"}
    for secret in ("secret", COMPANY_KEY, KEY):
        assert secret not in str(request)


def test_every_way_back_leads_over_the_company(endpoint: Endpoint, app: App) -> None:
    endpoint.usual = replying({"state": "answer_ready", "submit": question(endpoint.url)["submit"]})
    seen = post(app, CONSENT, {"decision": "approved"}, SCRIPT_NAME="/shop", PATH_INFO=CONSENT)
    assert json.loads(seen.body)["submit"]["url"] == f"/shop{ANSWERS}"
    assert endpoint.url.encode() not in seen.body


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 429])
def test_the_services_own_refusals_come_through(endpoint: Endpoint, app: App, status: int) -> None:
    content = {"error": "No.", "code": "no", "errors": [{"pointer": "/status", "allowed": ["answered"]}]}
    endpoint.usual = Reply(status, json.dumps(content).encode(), (("Retry-After", "7"), ("Set-Cookie", "a=1")))
    seen = post(app)
    assert (int(seen.status[:3]), json.loads(seen.body)) == (status, content)
    assert seen.all("Retry-After") == ["7"]
    # A date, or whatever else it may be, is not worth reading.
    endpoint.usual = Reply(status, json.dumps(content).encode(), (("Retry-After", "soon"),))
    assert not post(app).all("Retry-After")
    assert not seen.all("Set-Cookie")
    assert seen.all("WWW-Authenticate") == (["Bearer"] if status == 401 else [])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ANSWERS),
        ("HEAD", ANSWERS),
        ("PUT", CONSENT),
        ("OPTIONS", CONSENT),
        ("POST", "/_service/v1"),
        ("POST", "/_service/v1/"),
        ("POST", ANSWERS + "/"),
        ("POST", "/_service/v1/enrichment/requests"),
        ("POST", "/_service/v1/enrichment/requests/inspect"),
        ("POST", "/_service/v1/../v1/enrichment/answers"),
    ],
)
def test_there_is_nothing_else_under_the_prefix(endpoint: Endpoint, app: App, method: str, path: str) -> None:
    seen = post(app, path, REQUEST_METHOD=method)
    assert seen.status == "404 Not Found"
    assert method == "HEAD" or refused(seen) == (404, "not_found")
    assert not endpoint.received


@pytest.mark.parametrize("path", ["/_service", "/_service/v2/enrichment/answers", "/_service/v10", "/a/_service/v1"])
def test_what_is_not_under_the_prefix_is_the_products(endpoint: Endpoint, path: str) -> None:
    product = AskingClient(endpoint.url, mode="off").wsgi(answering())
    assert post(product, path) == post(answering(), path)


@pytest.mark.parametrize("settings", [{"company_key": None}, {}])
def test_without_a_company_key_or_when_switched_off_there_is_no_relay(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    if not settings:
        monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    product = AskingClient(endpoint.url, **settings).wsgi(answering())
    assert post(product) == post(answering())
    assert not endpoint.received


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", f"Basic {HANDLE}", HANDLE, f"Bearer {COMPANY_KEY}", f"Bearer {KEY}", f"Bearer {HANDLE} {HANDLE}"],
)
def test_a_handle_is_needed(endpoint: Endpoint, app: App, authorization: str) -> None:
    # Before the body: who has no handle learns nothing of what it should be.
    seen = post(app, body=b"{", HTTP_AUTHORIZATION=authorization)
    assert refused(seen) == (401, "invalid_customer_context_handle")
    assert seen.all("WWW-Authenticate") == ["Bearer"]
    assert not endpoint.received


def test_the_scheme_may_be_written_in_any_case(endpoint: Endpoint, app: App) -> None:
    assert post(app, HTTP_AUTHORIZATION=f"bEARER  {HANDLE}").status == "200 OK"
    assert endpoint.received[0].headers["Authorization"] == f"Bearer {HANDLE}"


@pytest.mark.parametrize(
    "body",
    [
        b"\xff",
        b'{"status": "\xff"}',
        b"{",
        b"null",
        b'"text"',
        b'{"status": ' * 5_000,
        b'{"status": 1e999}',
        b'{"status": ' + b"9" * 5000 + b"}",
        {**ANSWER, "extra": 1},
        {"items": [{**ITEM, "prompt": "x"}]},
        {"items": [{**ITEM, "value": ["x"]}]},
    ],
    ids=lambda body: repr(body)[:24],
)
def test_another_body_is_refused_without_being_forwarded(endpoint: Endpoint, app: App, body: Any) -> None:
    seen = post(app, body=body)
    assert refused(seen) == (400, "invalid_customer_context_body")
    assert not endpoint.received


@pytest.mark.parametrize("length", [None, "", "-1", "x", "\xb2", "99999", "9" * 5000])
def test_a_body_that_is_not_as_it_says_is_refused(endpoint: Endpoint, app: App, length: str | None) -> None:
    seen = post(app, CONTENT_LENGTH=length or "", is_strict=False)
    assert refused(seen)[1] == "invalid_customer_context_body"
    assert not endpoint.received


def test_a_body_in_pieces_is_taken_where_the_server_marks_its_end(endpoint: Endpoint, app: App) -> None:
    chunked = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True, "is_strict": False}
    assert post(app, **chunked).status == "200 OK"
    long = json.dumps({**ANSWER, "status": "x" * 65536}).encode()
    for seen in (post(app, body=long), post(app, body=long, **chunked)):
        assert refused(seen) == (413, "invalid_customer_context_body")
    assert len(endpoint.received) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(endpoint: Endpoint, app: App, status: int) -> None:
    endpoint.usual = Reply(status, b"{}", (("Location", endpoint.url + "/elsewhere"),))
    assert refused(post(app)) == (502, "service_redirect_rejected")
    assert [request.path for request in endpoint.received] == ["/api/v2/enrichment/answers"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(HANG_UP),
        replying({"error": "Oops.", "code": "internal"}, 500),
        replying({}, 503),
        Reply(200, b"<html>"),
        Reply(200, b"[]"),
        Reply(200, b" " * (http.MAX_RESPONSE_BYTES + 1)),
        Reply(200, b'{"a":' * 990 + b"1" + b"}" * 990),
        replying({})._replace(drip_s=0.1),
    ],
    ids=["hang up", "500", "503", "no JSON", "no object", "endless", "deep", "slow"],
)
def test_a_service_that_gives_no_answer_is_unreachable(
    endpoint: Endpoint, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.usual = reply
    app = AskingClient(endpoint.url, relay_timeout=0.5 if reply.drip_s else 10.0).wsgi(no_product)
    # The second finds out at once what the first did.
    for seen in (post(app), post(app)):
        assert refused(seen) == (503, "service_unavailable")
        assert json.loads(seen.body)["retryable"] is True
        assert seen.all("Retry-After") == ["1"]
    assert len(endpoint.received) == 1
    assert len(caplog.records) == 1
    assert HANDLE not in caplog.text


def test_a_service_that_is_back_is_asked_again(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "RETRY_AFTER_S", 0.001)
    app = AskingClient(endpoint.url).wsgi(no_product)
    endpoint.replies, endpoint.usual = [Reply(503)], replying({"accepted": True})
    assert post(app).status.startswith("503")
    while post(app).status != "200 OK":
        assert len(endpoint.received) < 100


def test_a_service_that_is_not_there_is_unreachable() -> None:
    app = AskingClient(f"http://127.0.0.1:{closed_port()}").wsgi(no_product)
    assert refused(post(app)) == (503, "service_unavailable")


@pytest.mark.parametrize("vector", RELAY["rewrites"])
def test_an_action_is_rewritten_as_the_vector_says(vector: Vector) -> None:
    before = json.dumps(vector["before"])
    assert rewrite_urls(vector["before"]) == vector["after"]
    assert json.dumps(vector["before"]) == before


def test_a_mounted_action_is_rewritten_as_the_vector_says() -> None:
    vector = RELAY["mountedRewrite"]
    assert rewrite_urls(vector["before"], vector["mount"]) == vector["after"]


@pytest.mark.parametrize("vector", RELAY["bodies"])
def test_a_body_is_allowed_as_the_vector_says(vector: Vector) -> None:
    text = vector["body"].encode()
    if vector["isAllowed"]:
        assert read_body(vector["path"], text) == json.loads(text)
    else:
        with pytest.raises(RelayError, match="invalid_customer_context_body"):
            read_body(vector["path"], text)


@pytest.mark.parametrize("vector", RELAY["handles"])
def test_a_handle_is_allowed_as_the_vector_says(endpoint: Endpoint, app: App, vector: Vector) -> None:
    seen = post(app, handle=vector["handle"], is_strict=False)
    assert seen.status.startswith("200" if vector["isAllowed"] else "401")
    pattern = protocol_files.read("contract.json")["relay"]["handle"]
    assert bool(re.match(pattern, vector["handle"]) and "\n" not in vector["handle"]) is vector["isAllowed"]
