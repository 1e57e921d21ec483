"""The relay: what an agent may send through the company's origin, what is forwarded, and what comes back."""

import json
from typing import Any

import pytest

from conformance.answers import HANDLE
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, CONTRACT, PATHS, vectors
from conformance.recorder import CUT, RUBBISH, Reply, wait_until
from conformance.routes import route
from conformance.wire import Response, send

RELAY = CONTRACT["relay"]
ANSWERS, CONSENT = sorted(RELAY["paths"])
SERVICE_PATHS = {path: RELAY["paths"][path] for path in (ANSWERS, CONSENT)}
ERRORS: dict[str, dict[str, Any]] = RELAY["errors"]
BODY = {"status": "no_relevant_context", "items": []}

CASES = vectors("relay")
HANDLES = [case for case in CASES if "handle" in case["input"] and case["input"]["handle"].isprintable()]
BODIES = [case for case in CASES if "body" in case["input"] or "bodyBase64" in case["input"]]
CONTENTS = [case for case in CASES if "content" in case["input"] and not case["input"].get("mount")]
ANSWER_CASES = [case for case in CASES if "answer" in case["input"]]

OUTAGES = {
    "500": Reply(500),
    "rubbish": RUBBISH,
    "cut": CUT,
    "slow": Reply(200, {}, delay_s=1.5),
    "no JSON": Reply(200, b"<p>"),
    "no object": Reply(200, []),
}


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch([route("/orders")], companyKey=COMPANY_KEY, flushInterval=60_000)


@pytest.fixture
def failing(launch: Launch) -> Product:
    """A product whose service fails in some cases, after which nobody waits for it for a moment."""
    product = launch([route("/orders")], companyKey=COMPANY_KEY, relayTimeout=500, flushInterval=60_000)
    wait_until(lambda: post(product).status == 200)
    product.recorder.reset()
    return product


def post(product: Product, body: Any = BODY, path: str = ANSWERS, authorization: str = f"Bearer {HANDLE}") -> Response:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Authorization": authorization, "Content-Type": "application/json"}
    return product.send(path, "POST", {name: value for name, value in headers.items() if value}, text)


def ids(cases: list[dict[str, Any]]) -> list[str]:
    return [case["name"] for case in cases]


def require_error(response: Response, name: str) -> None:
    error = ERRORS[name]
    assert (response.status, response.json()["code"]) == (error["status"], error["code"])
    assert response.json()["error"]
    require_private(response)


def require_private(response: Response) -> None:
    assert response.value("Cache-Control") == "private, no-store"
    assert (response.value("Content-Type") or "").startswith("application/json")


@pytest.mark.parametrize("case", HANDLES, ids=ids(HANDLES))
def test_handles(product: Product, case: dict[str, Any]) -> None:
    response = post(product, authorization=f"Bearer {case['input']['handle']}")
    if case["expected"]:
        assert response.status == 200
        assert len(product.recorder.all()) == 1
        return
    require_error(response, "badHandle")
    assert response.value("WWW-Authenticate") == "Bearer"
    assert product.recorder.all() == []


@pytest.mark.parametrize("authorization", ["", "Bearer", f"Basic {HANDLE}", HANDLE, f"Bearer {HANDLE} {HANDLE}"])
def test_what_is_no_bearer(product: Product, authorization: str) -> None:
    require_error(post(product, authorization=authorization), "badHandle")
    assert product.recorder.all() == []


def test_bearer_in_any_case(product: Product) -> None:
    assert post(product, authorization=f"bearer {HANDLE}").status == 200


@pytest.mark.parametrize("case", BODIES, ids=ids(BODIES))
def test_bodies(product: Product, case: dict[str, Any]) -> None:
    given, expected = case["input"], case["expected"]
    body = given["body"] if isinstance(given["body"], str) else json.dumps(given["body"])
    response = post(product, body.encode(), given["path"])
    if "forwarded" not in expected:
        require_error(response, "badBody")
        assert product.recorder.all() == []
        return
    assert response.status == 200
    (request,) = product.recorder.all()
    assert (request.target, request.content) == (SERVICE_PATHS[given["path"]], expected["forwarded"])


def test_nothing_but_the_handle_and_the_body_is_forwarded(product: Product) -> None:
    names = ("Cookie", "User-Agent", "X-Forwarded-For", "Referer", "Accept-Language", "X-Own", "Forwarded")
    headers = [("Authorization", f"Bearer {HANDLE}"), *((name, "of-the-agent") for name in names)]
    assert send(product.url, f"{ANSWERS}?secret=1", "POST", headers, json.dumps(BODY).encode()).status == 200
    (request,) = product.recorder.all()
    assert (request.method, request.target) == ("POST", PATHS["answers"])
    assert request.headers["authorization"] == f"Bearer {HANDLE}"
    assert "of-the-agent" not in str(request.headers)
    assert COMPANY_KEY not in str(request)


def test_a_body_above_the_limit(product: Product) -> None:
    require_error(post(product, b'{"status":"' + b"x" * RELAY["maxBodyBytes"] + b'"}'), "largeBody")
    assert product.recorder.all() == []


def test_a_body_of_exactly_the_limit(product: Product) -> None:
    frame = len(b'{"status":""}')
    assert post(product, b'{"status":"' + b"x" * (RELAY["maxBodyBytes"] - frame) + b'"}').status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ANSWERS),
        ("PUT", ANSWERS),
        ("DELETE", CONSENT),
        ("POST", f"{RELAY['prefix']}/enrichment/other"),
        ("POST", f"{ANSWERS}/"),
        ("POST", RELAY["prefix"]),
    ],
)
def test_nothing_else_is_there(product: Product, method: str, path: str) -> None:
    headers = {"Authorization": f"Bearer {HANDLE}"}
    require_error(product.send(path, method, headers, None if method == "GET" else b"{}"), "notFound")
    assert product.recorder.all() == []


@pytest.mark.parametrize("case", CONTENTS, ids=ids(CONTENTS))
def test_urls_in_answers_lead_to_the_relay(product: Product, case: dict[str, Any]) -> None:
    product.recorder.script(PATHS["answers"], Reply(200, case["input"]["content"]))
    response = post(product)
    assert (response.status, response.json()) == (200, case["expected"])


@pytest.mark.parametrize("case", ANSWER_CASES, ids=ids(ANSWER_CASES))
def test_answers(failing: Product, case: dict[str, Any]) -> None:
    answer, expected = case["input"]["answer"], case["expected"]
    location = (("Location", f"{failing.recorder.url}/elsewhere"),)
    body = answer.get("body", "")
    content = body.encode() if isinstance(body, str) else body
    failing.recorder.script(PATHS["answers"], Reply(answer["status"], content, location))
    response = post(failing)
    assert response.status == expected["status"]
    content = response.json()
    assert content == expected["body"] if "body" in expected else content["code"] == expected["code"]
    require_private(response)
    assert len(failing.recorder.all()) == 1, "neither repeated nor redirected"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429])
def test_a_refusal_is_passed_on(product: Product, status: int) -> None:
    error = {"error": "No.", "code": "handle_expired", "requestId": "1"}
    product.recorder.script(PATHS["answers"], Reply(status, error, (("Retry-After", "7"),)))
    response = post(product)
    assert (response.status, response.json(), response.value("Retry-After")) == (status, error, "7")
    require_private(response)


@pytest.mark.parametrize("name", OUTAGES)
def test_an_outage(failing: Product, name: str) -> None:
    failing.recorder.always(PATHS["answers"], OUTAGES[name])
    response = post(failing)
    require_error(response, "unavailable")
    assert (response.json()["retryable"], response.value("Retry-After")) == (True, "1")
    count = len(failing.recorder.all())
    require_error(post(failing), "unavailable")
    assert len(failing.recorder.all()) == count, "for a moment nobody waits for the service"


@pytest.mark.parametrize("path", [ANSWERS, CONSENT])
def test_without_a_company_key_there_is_no_relay(launch: Launch, path: str) -> None:
    product = launch([route("/orders")])
    assert post(product, path=path).body == b"not found"


def test_the_relay_works_in_the_mode_off(launch: Launch) -> None:
    product = launch([route("/orders")], companyKey=COMPANY_KEY, mode="off")
    assert post(product).status == 200
