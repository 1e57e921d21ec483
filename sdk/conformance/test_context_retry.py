"""Customer context: the immediate retry of the same operation, recognised by any process of the company."""

from typing import Any

import pytest

from conformance.answers import context_item
from conformance.conftest import Launch
from conformance.context_pages import (
    ASKING,
    OPTIONS,
    PERSONALIZATION,
    RETRIEVING,
    RETRY_HEADER,
    ROUTES,
    action_of,
    with_underscores,
)
from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, signed_interaction_id, vectors


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES, **OPTIONS)


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
