"""The relay forwards a handle and a short list of values, and answers for everything else itself."""

import io
import json
from collections.abc import Iterable
from typing import Any

import pytest
from agent_feedback import relay
from agent_feedback.http import client as http
from agent_feedback.relay import rewrite_urls

from tests.sdk.endpoint import COMPANY_KEY, HANG_UP, KEY, Endpoint, Reply, closed_port
from tests.sdk.shop import HANDLE, CompanyClient, context_action, json_reply
from tests.sdk.site import App, Response, fetch, make_app
from tests.sdk.vectors.cases import Case, read_cases

ANSWERS = "/_service/v1/enrichment/answers"
CONSENT = "/_service/v1/enrichment/consent"
ITEM = {"key": "shopping.priority", "type": "preference", "value": "price", "provenance": "agent_inference"}
ANSWER = {"status": "answered", "items": [ITEM]}


def no_product(environ: Any, start_response: Any) -> Iterable[bytes]:
    raise AssertionError("the product's own code ran")


@pytest.fixture
def app(endpoint: Endpoint) -> App:
    endpoint.default_reply = json_reply({"accepted": True})
    return CompanyClient(endpoint.url).wsgi(no_product)


def post(app: App, path: str = ANSWERS, body: Any = ANSWER, handle: str | None = HANDLE, **environ: Any) -> Response:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    retry_after = {} if handle is None else {"HTTP_AUTHORIZATION": f"Bearer {handle}"}
    request = {"REQUEST_METHOD": "POST", "CONTENT_LENGTH": str(len(text)), "wsgi.input": io.BytesIO(text)}
    return fetch(app, path, **{**request, **retry_after, **environ})


def error(response: Response) -> tuple[int, str]:
    assert response.get_all("Cache-Control") == ["private, no-store"]
    assert response.get_all("Content-Type") == ["application/json"]
    content = json.loads(response.body)
    assert isinstance(content["error"], str)
    return int(response.status[:3]), content["code"]


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
    environ = {
        "HTTP_COOKIE": "session=secret",
        "HTTP_X_SECRET": "secret",
        "QUERY_STRING": "secret=1",
        "HTTP_USER_AGENT": "secret",
        "CONTENT_TYPE": "text/plain",
    }
    response = post(app, path, body, **environ)
    assert (response.status, json.loads(response.body)) == ("200 OK", {"accepted": True})
    assert response.get_all("Cache-Control") == ["private, no-store"]
    (request,) = endpoint.requests
    assert (request.method, request.path, request.content) == ("POST", upstream, body)
    assert request.headers.pop("Authorization") == f"Bearer {HANDLE}"
    assert request.headers.keys() == {"Host", "Accept-Encoding", "Content-Type", "Content-Length", "User-Agent"}
    for secret in ("secret", COMPANY_KEY, KEY):
        assert secret not in str(request)


def test_every_way_back_leads_over_the_company(endpoint: Endpoint, app: App) -> None:
    endpoint.default_reply = json_reply({"state": "answer_ready", "submit": context_action(endpoint.url)["submit"]})
    response = post(app, CONSENT, {"decision": "approved"}, SCRIPT_NAME="/shop", PATH_INFO=CONSENT)
    assert json.loads(response.body)["submit"]["url"] == f"/shop{ANSWERS}"
    assert endpoint.url.encode() not in response.body


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 429])
def test_the_services_own_refusals_come_through(endpoint: Endpoint, app: App, status: int) -> None:
    content = {"error": "No.", "code": "no", "errors": [{"pointer": "/status", "allowed": ["answered"]}]}
    endpoint.default_reply = Reply(status, json.dumps(content).encode(), (("Retry-After", "7"), ("Set-Cookie", "a=1")))
    response = post(app)
    assert (int(response.status[:3]), json.loads(response.body)) == (status, content)
    assert response.get_all("Retry-After") == ["7"]
    # A date, or whatever else it may be, is not worth reading.
    endpoint.default_reply = Reply(status, json.dumps(content).encode(), (("Retry-After", "soon"),))
    assert not post(app).get_all("Retry-After")
    assert not response.get_all("Set-Cookie")
    assert response.get_all("WWW-Authenticate") == (["Bearer"] if status == 401 else [])


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
    response = post(app, path, REQUEST_METHOD=method)
    assert response.status == "404 Not Found"
    assert method == "HEAD" or error(response) == (404, "not_found")
    assert not endpoint.requests


@pytest.mark.parametrize("path", ["/_service", "/_service/v2/enrichment/answers", "/_service/v10", "/a/_service/v1"])
def test_what_is_not_under_the_prefix_is_the_products(endpoint: Endpoint, path: str) -> None:
    product = CompanyClient(endpoint.url, mode="off").wsgi(make_app())
    assert post(product, path) == post(make_app(), path)


@pytest.mark.parametrize("settings", [{"company_key": None}, {}])
def test_without_a_company_key_or_when_switched_off_there_is_no_relay(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    if not settings:
        monkeypatch.setenv("AGENT_FEEDBACK_ENABLED", "false")
    product = CompanyClient(endpoint.url, **settings).wsgi(make_app())
    assert post(product) == post(make_app())
    assert not endpoint.requests


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", f"Basic {HANDLE}", HANDLE, f"Bearer {COMPANY_KEY}", f"Bearer {KEY}", f"Bearer {HANDLE} {HANDLE}"],
)
def test_a_handle_is_needed(endpoint: Endpoint, app: App, authorization: str) -> None:
    # Before the body: who has no handle learns nothing of what it should be.
    response = post(app, body=b"{", HTTP_AUTHORIZATION=authorization)
    assert error(response) == (401, "invalid_customer_context_handle")
    assert response.get_all("WWW-Authenticate") == ["Bearer"]
    assert not endpoint.requests


def test_the_scheme_may_be_written_in_any_case(endpoint: Endpoint, app: App) -> None:
    assert post(app, HTTP_AUTHORIZATION=f"bEARER  {HANDLE}").status == "200 OK"
    assert endpoint.requests[0].headers["Authorization"] == f"Bearer {HANDLE}"


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
    response = post(app, body=body)
    assert error(response) == (400, "invalid_customer_context_body")
    assert not endpoint.requests


@pytest.mark.parametrize("length", [None, "", "-1", "x", "\xb2", "99999", "9" * 5000])
def test_a_body_that_is_not_as_it_says_is_refused(endpoint: Endpoint, app: App, length: str | None) -> None:
    response = post(app, CONTENT_LENGTH=length or "", is_strict=False)
    assert error(response)[1] == "invalid_customer_context_body"
    assert not endpoint.requests


def test_a_body_in_pieces_is_taken_where_the_server_marks_its_end(endpoint: Endpoint, app: App) -> None:
    chunked = {"CONTENT_LENGTH": "", "wsgi.input_terminated": True, "is_strict": False}
    assert post(app, **chunked).status == "200 OK"
    long_body = json.dumps({**ANSWER, "status": "x" * 65536}).encode()
    for response in (post(app, body=long_body), post(app, body=long_body, **chunked)):
        assert error(response) == (413, "invalid_customer_context_body")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(endpoint: Endpoint, app: App, status: int) -> None:
    endpoint.default_reply = Reply(status, b"{}", (("Location", endpoint.url + "/elsewhere"),))
    assert error(post(app)) == (502, "service_redirect_rejected")
    assert [request.path for request in endpoint.requests] == ["/api/v2/enrichment/answers"]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(HANG_UP),
        json_reply({"error": "Oops.", "code": "internal"}, 500),
        json_reply({}, 503),
        Reply(200, b"<html>"),
        Reply(200, b"[]"),
        Reply(200, b" " * (http.MAX_RESPONSE_BYTES + 1)),
        Reply(200, b'{"a":' * 990 + b"1" + b"}" * 990),
        json_reply({})._replace(drip_s=0.1),
    ],
    ids=["hang up", "500", "503", "no JSON", "no object", "endless", "deep", "slow"],
)
def test_a_service_that_gives_no_answer_is_unreachable(
    endpoint: Endpoint, reply: Reply, caplog: pytest.LogCaptureFixture
) -> None:
    endpoint.default_reply = reply
    app = CompanyClient(endpoint.url, relay_timeout=0.5 if reply.drip_s else 10.0).wsgi(no_product)
    # The second finds out at once what the first did.
    for response in (post(app), post(app)):
        assert error(response) == (503, "service_unavailable")
        assert json.loads(response.body)["retryable"] is True
        assert response.get_all("Retry-After") == ["1"]
    assert len(endpoint.requests) == 1
    assert len(caplog.records) == 1
    assert HANDLE not in caplog.text


def test_a_service_that_is_back_is_asked_again(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "RETRY_AFTER_S", 0.001)
    app = CompanyClient(endpoint.url).wsgi(no_product)
    endpoint.replies, endpoint.default_reply = [Reply(503)], json_reply({"accepted": True})
    assert post(app).status.startswith("503")
    while post(app).status != "200 OK":
        assert len(endpoint.requests) < 100


def test_a_service_that_is_not_there_is_unreachable() -> None:
    app = CompanyClient(f"http://127.0.0.1:{closed_port()}").wsgi(no_product)
    assert error(post(app)) == (503, "service_unavailable")


def test_rewriting_changes_nothing_of_the_original() -> None:
    action = {"submit": {"url": "https://feedback.example.com/api/v2/enrichment/answers"}}
    text = json.dumps(action)
    assert rewrite_urls(action) != action
    assert json.dumps(action) == text


@read_cases("relay", "handle")
def test_a_handle_is_allowed_as_the_vector_says(endpoint: Endpoint, app: App, case: Case) -> None:
    response = post(app, handle=case["input"]["handle"], is_strict=False)
    assert response.status.startswith("200" if case["expected"] else "401")
