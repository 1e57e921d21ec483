"""Customer context: what a response asks of the agent, what the product gets to know, the retry, and the signal."""

import json
import re
import time
from typing import Any

import pytest

from conformance import envelopes
from conformance.answers import HANDLE, context_action, context_item
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import (
    COMPANY_KEY,
    CONTRACT,
    ENVELOPE,
    KEY,
    PATHS,
    signed_interaction_id,
    validate,
    vectors,
)
from conformance.recorder import CUT, RUBBISH, Reply
from conformance.routes import HTML, route
from conformance.wire import Response

ASKING, RETRIEVING = PATHS["enrichment"], PATHS["context"]
PERSONALIZATION, ADVERTISING = "product_personalization", "targeted_advertising"
RETRY_HEADER = CONTRACT["headers"]["contextInteraction"]
SERVICE, ACTION = CONTRACT["members"]["service"], CONTRACT["members"]["customerContext"]
ELEMENT = re.compile(
    rb'<script id="%b" type="application/json">(.*?)</script>' % CONTRACT["html"]["contextId"].encode(), re.DOTALL
)
USER = {"X-User": "user_42"}


def ask(purpose: str = PERSONALIZATION, **members: Any) -> dict[str, Any]:
    return {"ask": {"purpose": purpose, "fieldKeys": ["shopping.priority"], "remember": False, **members}}


def known(purpose: str = PERSONALIZATION, **members: Any) -> dict[str, Any]:
    return {"context": {"purpose": purpose, **members}}


ROUTES = [
    route("/plain"),
    route("/anonymous", **ask()),
    route("/items/12", **ask()),
    route("/items/12", method="POST", **ask()),
    route("/customer", **ask(userRef="X-User", remember=True)),
    route("/page", "<html><head></head><body>a", HTML, **ask()),
    route("/array", "[1]", **ask()),
    route("/error", status=404, **ask()),
    route("/advertising", **ask(ADVERTISING)),
    route("/own", f'{{"{SERVICE}":1}}', **ask()),
    route("/known", **known(userRef="X-User")),
    route("/known-here", **known(), **ask()),
    route("/known-advertising", **known(ADVERTISING, userRef="X-User")),
    route("/cached", headers=[["Cache-Control", "public, max-age=60"]], **known()),
]


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(
        ROUTES,
        companyKey=COMPANY_KEY,
        contextTimeout=3000,
        sessionRef="X-Session",
        runtimeHint="X-Hint",
        flushInterval=60_000,
    )


def action_of(response: Response) -> dict[str, Any] | None:
    """Return the context action of a response, if it has one."""
    if "html" in (response.value("Content-Type") or ""):
        actions = [json.loads(text)[ACTION] for text in ELEMENT.findall(response.body)]
        assert len(actions) < 2
        return actions[0] if actions else None
    content = response.json()
    member = content.get(SERVICE) if isinstance(content, dict) else None
    return member[ACTION] if isinstance(member, dict) else None


def asked(product: Product) -> dict[str, Any]:
    """Return the body of the one enrichment request."""
    (request,) = product.recorder.of(ASKING)
    assert (request.method, request.headers["authorization"]) == ("POST", f"Bearer {COMPANY_KEY}")
    validate("enrichment-request", request.content)
    return dict(request.content)


def with_underscores(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("-", "_"): value for name, value in headers.items()}


@pytest.mark.parametrize("path", ["/anonymous", "/customer", "/page"])
def test_an_action_leads_to_the_relay(product: Product, path: str) -> None:
    action = action_of(product.get(path, X_User="user_42"))
    assert action
    relay = CONTRACT["relay"]["paths"]
    assert {relay[action[name]["url"]] for name in ("submit", "consent")} == {PATHS["answers"], PATHS["contextConsent"]}
    assert action["submit"]["authorization"] == f"Bearer {HANDLE}"
    assert action["answerInstruction"] == "See https://example.com for more.", "texts stay"
    assert product.recorder.url not in json.dumps(action)


def test_every_other_byte_stays(product: Product) -> None:
    response = product.get("/anonymous")
    assert response.body.startswith(b'{"a":1,')
    assert set(response.json()) == {"a", ENVELOPE, SERVICE}
    assert response.value("Cache-Control") == "private, no-store"
    page = product.get("/page")
    assert page.body.endswith(b"</head><body>a")
    assert envelopes.find(page), "beside the envelope"


def test_the_request_for_an_anonymous_customer(product: Product) -> None:
    response = product.get("/items/12?secret=1", X_Session="visit-1", X_Hint="ClaudeBot/1.0")
    body = asked(product)
    expected = {
        "operation": "/items/:id",
        "surface": "http_json",
        "purpose": PERSONALIZATION,
        "remember": False,
        "fieldKeys": ["shopping.priority"],
        "statusCode": 200,
        "sessionRef": "visit-1",
        "runtimeHint": "ClaudeBot/1.0",
    }
    assert {name: body[name] for name in expected} == expected
    assert body["durationMs"] >= 0
    assert not {"userRef", "accountRef", "anonymousRef"} & body.keys()
    assert response.value(RETRY_HEADER) == body["interactionId"]
    assert "secret" not in str(body)


def test_the_interaction_is_that_of_the_envelope(product: Product) -> None:
    response = product.get("/anonymous")
    claims = envelopes.check(envelopes.get(response), "never_ask", product.recorder.url)
    assert claims["i"] == asked(product)["interactionId"]


def test_the_request_for_a_customer(product: Product) -> None:
    response = product.get("/customer", **with_underscores(USER))
    body = asked(product)
    assert (body["userRef"], body["remember"]) == ("user_42", True)
    assert response.value(RETRY_HEADER) is None


def test_the_observation_is_an_allowlist(product: Product) -> None:
    product.get(
        "/anonymous",
        User_Agent="Agent/1.0",
        Accept_Language="de",
        Referer="https://www.example.com:8443/path?query=1",
        Sec_CH_UA_Platform='"Linux"',
        Sec_CH_UA_Mobile="?0",
        Cookie="secret=1",
        X_Own="secret",
    )
    observation = {
        "clientIp": "127.0.0.1",
        "method": "GET",
        "userAgent": "Agent/1.0",
        "acceptLanguage": "de",
        "referrerOrigin": "https://www.example.com:8443",
        "secChUaPlatform": '"Linux"',
        "secChUaMobile": "?0",
    }
    body = asked(product)
    assert body["requestObservation"] == observation
    assert "secret" not in str(body)


@pytest.mark.parametrize(
    ("header", "value", "member", "expected"),
    [
        ("User_Agent", "x" * 600, "userAgent", "x" * 512),
        ("Accept_Language", "x" * 300, "acceptLanguage", "x" * 256),
        ("Sec_CH_UA_Mobile", "?2", "secChUaMobile", None),
        ("Referer", "ftp://example.com/", "referrerOrigin", None),
        ("Referer", "no URL", "referrerOrigin", None),
    ],
)
def test_an_observation_within_its_bounds(
    product: Product, header: str, value: str, member: str, expected: str | None
) -> None:
    product.get("/anonymous", **{header: value})
    assert asked(product)["requestObservation"].get(member) == expected


@pytest.mark.parametrize("path", ["/array", "/error", "/own", "/plain"])
def test_where_there_is_no_action(product: Product, path: str) -> None:
    response = product.get(path)
    assert action_of(response) is None
    assert response.value(RETRY_HEADER) is None
    body = next(entry["body"] for entry in ROUTES if entry["path"] == path)
    assert response.body.startswith(body.encode().rstrip(b"}"))


@pytest.mark.parametrize("missing", [["submit"], ["submit", "consent"]])
def test_an_answer_without_actions_is_nothing_to_show(product: Product, missing: list[str]) -> None:
    request = {"interactionId": "0", "purpose": PERSONALIZATION, "surface": "http_json"}
    content = context_action(product.recorder.url, request)
    product.recorder.script(ASKING, Reply(200, {**content, **dict.fromkeys(missing)}))
    action = action_of(product.get("/anonymous"))
    assert (action is None) == ("consent" in missing)


def test_what_is_known(product: Product) -> None:
    product.recorder.items += [context_item("shopping.priority", "price"), context_item("shopping.budget_band", "50_150")]
    response = product.get("/known", **with_underscores(USER))
    items = [{"key": "shopping.priority", "value": "price"}, {"key": "shopping.budget_band", "value": "50_150"}]
    assert response.json()["known"] == items
    (request,) = product.recorder.of(RETRIEVING)
    validate("context-query", request.content)
    assert (request.method, request.headers["authorization"]) == ("POST", f"Bearer {COMPANY_KEY}")
    assert request.content == {"purpose": PERSONALIZATION, "userRef": "user_42"}


def test_nothing_is_known_of_nobody(product: Product) -> None:
    assert product.get("/known").json()["known"] == []
    assert product.recorder.of(RETRIEVING) == [], "without a call"


def test_the_retry(product: Product) -> None:
    first = product.get("/known-here")
    interaction = first.value(RETRY_HEADER)
    assert (first.json()["known"], bool(interaction)) == ([], True)
    assert action_of(first)
    product.recorder.items.append(context_item("shopping.priority", "price"))
    second = product.get("/known-here", **with_underscores({RETRY_HEADER: str(interaction)}))
    assert second.json()["known"] == [{"key": "shopping.priority", "value": "price"}]
    (request,) = product.recorder.of(RETRIEVING)
    assert request.content == {"purpose": PERSONALIZATION, "interactionId": interaction}
    assert (action_of(second), second.value(RETRY_HEADER)) == (None, None), "it is not asked again"
    assert len(product.recorder.of(ASKING)) == 1
    assert second.value("Cache-Control") == "private, no-store"


def test_a_retry_is_kept_from_caches_without_an_envelope_too(product: Product) -> None:
    interaction = signed_interaction_id("GET /cached")
    response = product.get("/cached", **with_underscores({RETRY_HEADER: interaction}))
    assert response.value("Cache-Control") == "private, no-store"
    assert product.get("/cached").value("Cache-Control") == "public, max-age=60"


def test_the_retry_of_another_process_is_recognised(product: Product) -> None:
    for interaction in (signed_interaction_id("GET /items/:id"), signed_interaction_id("GET /items/:id").upper()):
        product.recorder.reset()
        assert action_of(product.get("/items/12", **with_underscores({RETRY_HEADER: interaction}))) is None
        assert product.recorder.of(ASKING) == []


@pytest.mark.parametrize(
    "interaction",
    [
        signed_interaction_id("GET /anonymous"),
        signed_interaction_id("POST /items/:id"),
        signed_interaction_id("GET /items/:id", company_key=COMPANY_KEY + "x"),
        signed_interaction_id("GET /items/:id").replace("-", ""),
        "00000000-0000-4000-8000-000000000000",
        "x",
    ],
    ids=["another operation", "another method", "another key", "no hyphens", "another signature", "no id"],
)
def test_what_is_no_retry(product: Product, interaction: str) -> None:
    response = product.get("/items/12", **with_underscores({RETRY_HEADER: interaction}))
    assert action_of(response)
    assert response.value(RETRY_HEADER) != interaction


@pytest.mark.parametrize("case", vectors("context_interaction")[:2], ids=["signed", "upper case"])
def test_the_suites_own_ids_are_those_of_the_vectors(product: Product, case: dict[str, Any]) -> None:
    given = case["input"]
    head = bytes.fromhex(given["interactionId"].replace("-", ""))[:10]
    interaction = signed_interaction_id(given["route"], given["companyKey"], head)
    assert (interaction == given["interactionId"].lower()) == case["expected"]
    assert product.port


def test_the_privacy_signal(product: Product) -> None:
    signal = with_underscores({CONTRACT["headers"]["privacySignal"]: "1"})
    product.recorder.items.append(context_item("shopping.priority", "price"))
    assert action_of(product.get("/advertising", **signal)) is None
    response = product.get("/known-advertising", **signal, **with_underscores(USER))
    assert response.json()["known"] == []
    assert product.recorder.of(ASKING) + product.recorder.of(RETRIEVING) == [], "without a call"


@pytest.mark.parametrize("signal", ["0", None])
def test_without_the_privacy_signal(product: Product, signal: str | None) -> None:
    headers = {"Sec_GPC": signal} if signal else {}
    product.recorder.items.append(context_item("shopping.priority", "price"))
    assert action_of(product.get("/advertising", **headers))
    assert product.get("/known-advertising", **headers, **with_underscores(USER)).json()["known"]


def test_the_privacy_signal_is_about_advertising_only(product: Product) -> None:
    assert action_of(product.get("/anonymous", Sec_GPC="1"))


def test_context_is_asked_for_in_the_mode_off(launch: Launch) -> None:
    product = launch(ROUTES, companyKey=COMPANY_KEY, contextTimeout=3000, mode="off")
    response = product.get("/anonymous")
    assert action_of(response)
    assert envelopes.find(response) is None


FAILURES = {
    "500": Reply(500),
    "401": Reply(401),
    "408": Reply(408),
    "429": Reply(429),
    "cut": CUT,
    "rubbish": RUBBISH,
    "no JSON": Reply(200, b"<p>"),
    "too slow": Reply(200, {}, delay_s=1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failing_service_is_left_alone(start_alone: Launch, name: str) -> None:
    product = start_alone(ROUTES, companyKey=COMPANY_KEY, contextTimeout=300)
    product.wait_until_it_listens()
    product.recorder.always(ASKING, FAILURES[name])
    started_at = time.monotonic()
    for _ in range(4):
        response = product.get("/anonymous")
        assert (response.status, response.json()["a"], action_of(response)) == (200, 1, None)
        assert response.value(RETRY_HEADER) is None
        assert envelopes.find(response), "the envelope leaves all the same"
    if time.monotonic() - started_at < CONTRACT["contextClient"]["pauseMs"] / 1000 - 1:
        assert len(product.recorder.of(ASKING)) <= 2, "an idle connection may be replaced"
        assert product.get("/known", **with_underscores(USER)).json()["known"] == []
        assert product.recorder.of(RETRIEVING) == []
    assert COMPANY_KEY not in product.stderr
    assert KEY not in product.stderr


def test_a_refusal_is_no_reason_to_leave_the_service_alone(product: Product) -> None:
    product.recorder.script(ASKING, Reply(422, {"error": "No.", "code": "unknown_field"}))
    assert action_of(product.get("/anonymous")) is None
    assert action_of(product.get("/anonymous"))


def test_after_five_seconds_it_is_tried_again(start_alone: Launch) -> None:
    product = start_alone(ROUTES, companyKey=COMPANY_KEY)
    product.wait_until_it_listens()
    product.recorder.script(ASKING, Reply(500))
    assert action_of(product.get("/anonymous")) is None
    time.sleep(CONTRACT["contextClient"]["pauseMs"] / 1000 + 0.2)
    assert action_of(product.get("/anonymous"))


def test_a_slow_service_costs_no_more_than_the_time_out(start_alone: Launch) -> None:
    product = start_alone(ROUTES, companyKey=COMPANY_KEY)
    product.wait_until_it_listens()
    product.recorder.always(ASKING, Reply(200, {}, delay_s=8))
    started_at = time.monotonic()
    assert product.get("/anonymous").json()["a"] == 1
    assert time.monotonic() - started_at < 4, "the time-out is 250 ms by default"
