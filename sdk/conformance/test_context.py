"""Customer context: what a response asks of the agent, what the product gets to know, and the privacy signal."""

import json

import pytest

from conformance import envelopes
from conformance.answers import HANDLE, context_action, context_item
from conformance.conftest import Launch
from conformance.context_pages import (
    ASKING,
    OPTIONS,
    PERSONALIZATION,
    RETRIEVING,
    RETRY_HEADER,
    ROUTES,
    SERVICE,
    USER,
    action_of,
    asked,
    with_underscores,
)
from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, CONTRACT, ENVELOPE, PATHS, validate
from conformance.recorder import Reply


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES, **OPTIONS)


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
    product.recorder.items += [
        context_item("shopping.priority", "price"),
        context_item("shopping.budget_band", "50_150"),
    ]
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
