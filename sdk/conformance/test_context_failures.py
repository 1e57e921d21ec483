"""Customer context: a service that fails costs a response nothing but its context, and is left alone for a while."""

import time

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.context_pages import (
    ASKING,
    OPTIONS,
    RETRIEVING,
    RETRY_HEADER,
    ROUTES,
    USER,
    action_of,
    with_underscores,
)
from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, CONTRACT, KEY
from conformance.recorder import CUT, RUBBISH, Reply


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES, **OPTIONS)


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
