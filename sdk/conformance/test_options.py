"""Options, from the program and from the environment: what is malformed ends the program before it listens."""

import json
from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, KEY, vectors
from conformance.routes import route

ROUTES = [route("/orders")]
TIMES = ("flushInterval", "timeout", "shutdownTimeout", "consentCacheTtl", "contextTimeout", "relayTimeout")
NUMBERS = ("maxQueueSize", "maxAttempts", "maxBodyBytes", "consentCacheSize")

BAD_KEYS = {
    f"{case['input']['kind']} key: {case['name']}": {
        {"product": "apiKey", "company": "companyKey"}[case["input"]["kind"]]: case["input"]["key"]
    }
    for case in vectors("keys")
    if not case["expected"]["isValid"] and case["input"]["key"] == case["input"]["key"].strip() != ""
}
MALFORMED: dict[str, dict[str, Any]] = {
    **BAD_KEYS,
    "no key": {"apiKey": None},
    "no endpoint": {"endpoint": None},
    "http of another host": {"endpoint": "http://feedback.example.com"},
    "another scheme": {"endpoint": "ftp://feedback.example.com"},
    "credentials": {"endpoint": "https://user:secret@feedback.example.com"},
    "a query": {"endpoint": "https://feedback.example.com/?a=1"},
    "a fragment": {"endpoint": "https://feedback.example.com/#a"},
    "no host": {"endpoint": "https://"},
    "an unknown mode": {"mode": "sometimes"},
    "an unknown cache mode": {"cacheMode": "public"},
    "an empty name": {"serviceName": " "},
    "include as a text": {"include": "/**"},
    "a pattern without a slash": {"exclude": ["private"]},
    **{f"{name} of 0": {name: 0} for name in (*TIMES, *NUMBERS)},
    "a negative time": {"timeout": -1},
    "a time as a text": {"flushInterval": "500"},
    "half an event": {"maxQueueSize": 1.5},
}
MALFORMED_ENVIRONMENTS: dict[str, dict[str, str]] = {
    "a malformed key": {"AGENT_FEEDBACK_KEY": "af_live_x", "AGENT_FEEDBACK_URL": "{url}"},
    "an unknown mode": {
        "AGENT_FEEDBACK_KEY": KEY,
        "AGENT_FEEDBACK_URL": "{url}",
        "AGENT_FEEDBACK_MODE": "sometimes",
    },
    "a malformed company key": {
        "AGENT_FEEDBACK_KEY": KEY,
        "AGENT_FEEDBACK_URL": "{url}",
        "AGENT_FEEDBACK_COMPANY_KEY": "af_company_x",
    },
}


def require_refusal(product: Product) -> None:
    assert product.wait_for_exit() != 0
    assert product.stderr.strip(), "it says why"
    for key in (KEY, COMPANY_KEY):
        assert key.rsplit("_", 1)[1] not in product.stderr


@pytest.mark.parametrize("first", range(0, len(MALFORMED), 6))
def test_malformed(start_alone: Launch, first: int) -> None:
    """Some at once: starting a program is most of the time."""
    names = list(MALFORMED)[first : first + 6]
    products = {name: start_alone(ROUTES, **MALFORMED[name]) for name in names}
    for name, product in products.items():
        require_refusal(product)
        assert product.stderr.strip(), name


@pytest.mark.parametrize("name", MALFORMED_ENVIRONMENTS)
def test_malformed_in_the_environment(start_alone: Launch, name: str) -> None:
    require_refusal(start_alone(ROUTES, MALFORMED_ENVIRONMENTS[name], apiKey=None, endpoint=None))


def test_the_environment(start_alone: Launch) -> None:
    environ = {
        "AGENT_FEEDBACK_KEY": f" {KEY} ",
        "AGENT_FEEDBACK_URL": "{url}/ ",
        "AGENT_FEEDBACK_MODE": "ask_always",
        "AGENT_FEEDBACK_COMPANY_KEY": COMPANY_KEY,
    }
    asking = route("/ask", ask={"purpose": "product_personalization"})
    product = start_alone([*ROUTES, asking], environ, apiKey=None, endpoint=None, contextTimeout=5000)
    product.wait_until_it_listens()
    envelopes.check(envelopes.get(product.get("/orders")), "ask_always", product.recorder.url)
    assert "customerContext" in json.dumps(product.get("/ask").json())


def test_an_option_wins_over_the_environment(start_alone: Launch) -> None:
    environ = {
        "AGENT_FEEDBACK_KEY": KEY.replace("a", "b"),
        "AGENT_FEEDBACK_URL": "http://127.0.0.1:1",
        "AGENT_FEEDBACK_MODE": "off",
    }
    product = start_alone(ROUTES, environ, mode="never_ask")
    product.wait_until_it_listens()
    envelopes.check(envelopes.get(product.get("/orders")), "never_ask", product.recorder.url)


def test_a_key_without_a_scope(start_alone: Launch) -> None:
    key = "af_live_0123456789abcdef0123456789abcdef_conformance_secret_0123456789abcdef"
    product = start_alone(ROUTES, apiKey=key)
    product.wait_until_it_listens()
    envelopes.check(envelopes.get(product.get("/orders")), "never_ask", product.recorder.url, key=key)


def test_an_endpoint_with_a_path(launch: Launch) -> None:
    plain = launch(ROUTES)
    endpoint = f"{plain.recorder.url}/behind/a/path"
    product = launch(ROUTES, endpoint=f"{endpoint}/")
    envelopes.check(envelopes.get(product.get("/orders")), "never_ask", endpoint)
    assert f"<{endpoint}/.well-known/" in ", ".join(product.get("/orders").all("Link"))
    product.flush()
    assert plain.recorder.of("/behind/a/path/api/v2/telemetry/batches")
