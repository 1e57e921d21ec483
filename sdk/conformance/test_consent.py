"""Every mode and consent state, cold and warm; the cache of decisions and its requests."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import CONTRACT, KEY, PATHS, SCOPE, subject_of, vectors
from conformance.recorder import CUT, RUBBISH, Recorded, Reply, wait_until
from conformance.routes import HTML, route

STATE_PATH = PATHS["consentState"]
CUSTOMER = "X-Customer"
MAX_REFRESHES = CONTRACT["consentCache"]["maxRefreshes"]
SHORT_MS = 300

ROUTES = [route("/orders"), route("/list", "[1]"), route("/page", "<p>a", HTML)]
PATHS_OF_SHAPES = [entry["path"] for entry in ROUTES]


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES, mode="ask_once", customerRef=CUSTOMER)


@pytest.fixture
def failing(launch: Launch) -> Product:
    """A product whose service fails in some cases."""
    return launch(ROUTES, mode="ask_once", customerRef=CUSTOMER, consentCacheSize=100)


@pytest.fixture
def short(launch: Launch) -> Product:
    """A product that remembers two customers, for a moment."""
    return launch(ROUTES, mode="ask_once", customerRef=CUSTOMER, consentCacheTtl=SHORT_MS, consentCacheSize=2)


def state_of(product: Product, customer: str, path: str = "/orders") -> tuple[str, dict[str, Any]]:
    """Return the row that a response's envelope is, and the claims of its capability."""
    envelope = envelopes.get(product.get(path, X_Customer=customer))
    members = {"consent_required": "unknown", "feedback_ready": "approved", "feedback_disabled": "declined"}
    state = members[envelope["state"]]
    return state, envelopes.check(envelope, f"ask_once_{state}", product.recorder.url)


def wait_for_state(product: Product, customer: str, state: str) -> dict[str, Any]:
    """Ask until a customer's decision has arrived, and return the claims."""
    wait_until(lambda: state_of(product, customer)[0] == state)
    return state_of(product, customer)[1]


def requests_for(product: Product, customer: str) -> list[Recorded]:
    """Return the requests for a customer's decision; those of earlier cases may still come."""
    subject = subject_of(customer)
    return [request for request in product.recorder.of(STATE_PATH) if subject in request.content["subjects"]]


@pytest.mark.parametrize("path", PATHS_OF_SHAPES)
def test_never_ask(launch: Launch, path: str) -> None:
    product = launch(ROUTES, mode="never_ask", customerRef=CUSTOMER)
    claims = envelopes.check(envelopes.get(product.get(path, X_Customer="one")), "never_ask", product.recorder.url)
    assert "s" not in claims
    assert product.recorder.of(STATE_PATH) == []


@pytest.mark.parametrize("path", PATHS_OF_SHAPES)
def test_ask_always(launch: Launch, path: str) -> None:
    product = launch(ROUTES, mode="ask_always", customerRef=CUSTOMER)
    claims = envelopes.check(envelopes.get(product.get(path, X_Customer="one")), "ask_always", product.recorder.url)
    assert "s" not in claims
    assert product.recorder.of(STATE_PATH) == []


@pytest.mark.parametrize("path", PATHS_OF_SHAPES)
def test_off(launch: Launch, path: str) -> None:
    product = launch(ROUTES, mode="off", customerRef=CUSTOMER)
    response = product.get(path, X_Customer="one")
    assert (envelopes.find(response), response.all("Link"), response.all("Cache-Control")) == (None, [], [])
    product.flush()
    assert product.recorder.all() == []


@pytest.mark.parametrize("path", PATHS_OF_SHAPES)
def test_without_a_customer(launch: Launch, path: str) -> None:
    product = launch(ROUTES, mode="ask_once", customerRef=CUSTOMER, consentCacheSize=98)
    envelope = envelopes.get(product.get(path))
    claims = envelopes.check(envelope, "ask_once_without_customer", product.recorder.url)
    assert "s" not in claims
    assert product.recorder.of(STATE_PATH) == []


@pytest.mark.parametrize("customer", ["some one", "a@b", "x" * 161, ""])
def test_an_unusable_reference_is_no_customer(product: Product, customer: str) -> None:
    envelope = envelopes.get(product.get("/orders", X_Customer=customer))
    envelopes.check(envelope, "ask_once_without_customer", product.recorder.url)


@pytest.mark.parametrize("path", PATHS_OF_SHAPES)
def test_cold(product: Product, path: str) -> None:
    customer = f"cold{path.replace('/', '_')}"
    state, claims = state_of(product, customer, path)
    assert (state, claims["s"]) == ("unknown", subject_of(customer))
    assert claims.get("r", 0) == 0


@pytest.mark.parametrize(("decision", "revision"), [("approved", 1), ("declined", 1), ("approved", 7)])
def test_warm(product: Product, decision: str, revision: int) -> None:
    customer = f"warm_{decision}_{revision}"
    product.recorder.decisions[subject_of(customer)] = (decision, revision)
    claims = wait_for_state(product, customer, decision)
    assert (claims["s"], claims["r"]) == (subject_of(customer), revision)
    for path in PATHS_OF_SHAPES:
        assert state_of(product, customer, path)[0] == decision
    assert len(requests_for(product, customer)) == 1, "a decision that is known is not asked for again"


def test_the_request_for_a_decision(product: Product) -> None:
    state_of(product, "requested")
    wait_until(lambda: requests_for(product, "requested"))
    (request,) = requests_for(product, "requested")
    assert (request.method, request.headers["authorization"]) == ("POST", f"Bearer {KEY}")
    assert request.content == {"subjects": [subject_of("requested")]}


@pytest.mark.parametrize("case", vectors("subject"), ids=[case["name"] for case in vectors("subject")])
def test_subjects(product: Product, case: dict[str, Any]) -> None:
    reference = case["input"]["customerRef"].strip()
    assert subject_of(reference, case["input"]["scope"].lower()) == case["expected"], "the suite's own"
    assert state_of(product, reference)[1]["s"] == subject_of(reference, SCOPE)


def test_one_request_for_many_misses_of_one_customer(product: Product) -> None:
    with product.recorder.closed(STATE_PATH):
        with ThreadPoolExecutor(8) as threads:
            states = list(threads.map(lambda _number: state_of(product, "single")[0], range(24)))
        wait_until(lambda: requests_for(product, "single"))
    assert states == ["unknown"] * 24
    assert len(requests_for(product, "single")) == 1


def test_a_response_never_waits_and_few_requests_run(product: Product) -> None:
    customers = [f"crowd_{number}" for number in range(3 * MAX_REFRESHES)]
    with product.recorder.closed(STATE_PATH):
        assert {state_of(product, customer)[0] for customer in customers} == {"unknown"}
        product.recorder.wait_for(STATE_PATH)
        assert product.recorder.peaks[STATE_PATH] <= MAX_REFRESHES
    wait_until(lambda: product.recorder.of(STATE_PATH))
    assert max(len(request.content["subjects"]) for request in product.recorder.of(STATE_PATH)) <= 50


@pytest.mark.parametrize("reply", [Reply(500), Reply(429), Reply(302, headers=(("Location", "/"),)), CUT, RUBBISH])
def test_a_failure_changes_nothing_and_a_later_miss_asks_again(failing: Product, reply: Reply) -> None:
    customer = f"failure_{reply.status}_{reply.is_cut}_{len(reply.rubbish)}"
    failing.recorder.decisions[subject_of(customer)] = ("approved", 1)
    failing.recorder.script(STATE_PATH, reply)
    # After the failure of another case, nobody is asked for a moment.
    wait_until(lambda: state_of(failing, customer)[0] == "approved" or failing.recorder.of(STATE_PATH))
    assert state_of(failing, customer)[0] == "unknown"
    wait_for_state(failing, customer, "approved")


def test_a_service_that_knows_no_such_key_is_left_alone(launch: Launch) -> None:
    product = launch(ROUTES, mode="ask_once", customerRef=CUSTOMER, consentCacheSize=99)
    product.recorder.always(STATE_PATH, Reply(401))
    state_of(product, "one")
    product.recorder.wait_for(STATE_PATH)
    deadline = time.monotonic() + CONTRACT["consentCache"]["pauseMs"] / 1000 + 0.5
    while time.monotonic() < deadline:
        state_of(product, "two")
    assert len(product.recorder.of(STATE_PATH)) == 1


def test_a_decision_is_refreshed_when_its_time_is_over(short: Product) -> None:
    subject = subject_of("changing")
    short.recorder.decisions[subject] = ("approved", 1)
    wait_for_state(short, "changing", "approved")
    short.recorder.decisions[subject] = ("declined", 2)
    assert wait_for_state(short, "changing", "declined")["r"] == 2


def test_an_expired_decision_is_used_until_it_is_refreshed(short: Product) -> None:
    subject = subject_of("expiring")
    short.recorder.decisions[subject] = ("approved", 1)
    wait_for_state(short, "expiring", "approved")
    with short.recorder.closed(STATE_PATH):
        count = len(short.recorder.of(STATE_PATH))
        wait_until(lambda: state_of(short, "expiring") and len(short.recorder.of(STATE_PATH)) > count)
        assert state_of(short, "expiring")[0] == "approved"


def test_the_least_recently_used_decision_leaves(short: Product) -> None:
    for customer in ("first", "second", "third"):
        short.recorder.decisions[subject_of(customer)] = ("approved", 1)
        wait_for_state(short, customer, "approved")
        if customer == "second":
            state_of(short, "first")
    with short.recorder.closed(STATE_PATH):
        assert state_of(short, "second")[0] == "unknown"
        assert {state_of(short, customer)[0] for customer in ("first", "third")} == {"approved"}


def test_an_undecided_customer_is_asked_for_again_soon(product: Product) -> None:
    state_of(product, "undecided")
    wait_until(lambda: requests_for(product, "undecided"))
    time.sleep(0.2)
    state_of(product, "undecided")
    assert len(requests_for(product, "undecided")) == 1, "not for each response"
    product.recorder.decisions[subject_of("undecided")] = ("approved", 1)
    wait_for_state(product, "undecided", "approved")


def test_the_name_of_the_service_is_in_its_question(launch: Launch) -> None:
    product = launch(ROUTES, mode="ask_once", customerRef=CUSTOMER, serviceName='Café "Feedback"')
    envelope = envelopes.get(product.get("/orders", X_Customer="one"))
    envelopes.check(envelope, "ask_once_unknown", product.recorder.url, service_name='Café "Feedback"')
