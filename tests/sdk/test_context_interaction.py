"""The interaction of an ephemeral question comes back with the immediate repetition of the same operation only."""

import json
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from agent_feedback.asking import bound_interaction, is_bound
from agent_feedback.company_key import CompanyKey

from tests.sdk.endpoint import COMPANY_KEY, Endpoint
from tests.sdk.shop import AskingClient, asking, question, replying, requests_of
from tests.sdk.site import JSON, App, answering, fetch
from tests.sdk.test_conformance import VECTORS

HEADER = "Service-Context-Interaction"


@pytest.fixture
def feedback(endpoint: Endpoint) -> AskingClient:
    endpoint.usual = replying(question(endpoint.url))
    return AskingClient(endpoint.url)


def noting(feedback: AskingClient, noted: list[str | None], **wanted: Any) -> App:
    """Return a product that notes the interaction it is told of, and asks."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        noted.append(feedback.customer_context.interaction(environ))
        assert environ.get("agent_feedback.context_interaction") == noted[-1]
        return asking(feedback, **wanted)(environ, start_response)

    return feedback.wsgi(app)


def test_the_repetition_is_recognised_and_not_asked_again(endpoint: Endpoint, feedback: AskingClient) -> None:
    noted: list[str | None] = []
    app = noting(feedback, noted)
    (interaction,) = fetch(app, "/products/1").all(HEADER)
    # Another number is the same operation.
    again = fetch(app, "/products/2", HTTP_SERVICE_CONTEXT_INTERACTION=interaction.upper())
    assert noted == [None, interaction]
    assert "_service" not in json.loads(again.body)
    assert not again.all(HEADER)
    assert len(requests_of(endpoint)) == 1
    # It is a new interaction all the same.
    assert feedback.told[0]["interactionId"] == interaction != feedback.told[1]["interactionId"]


def test_another_process_with_the_same_key_recognises_it_too(endpoint: Endpoint, feedback: AskingClient) -> None:
    noted: list[str | None] = []
    (interaction,) = fetch(noting(feedback, [])).all(HEADER)
    fetch(noting(AskingClient(endpoint.url), noted), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert noted == [interaction]


@pytest.mark.parametrize("other", [{"path": "/orders/other"}, {"REQUEST_METHOD": "POST"}, {"SCRIPT_NAME": "/mounted"}])
def test_another_operation_does_not_get_it(feedback: AskingClient, other: dict[str, Any]) -> None:
    noted: list[str | None] = []
    app = noting(feedback, noted)
    (interaction,) = fetch(app).all(HEADER)
    seen = fetch(app, HTTP_SERVICE_CONTEXT_INTERACTION=interaction, **other)
    assert noted == [None, None]
    assert seen.all(HEADER)


@pytest.mark.parametrize(
    "told",
    ["", "x", str(uuid.uuid4()), str(uuid.uuid1()), "{" + str(uuid.uuid4()) + "}", "0" * 5000, "\xe9" * 36, "a, b"],
    ids=["empty", "short", "uuid4", "uuid1", "braces", "long", "not ASCII", "list"],
)
def test_what_was_not_given_out_is_not_taken(feedback: AskingClient, told: str) -> None:
    noted: list[str | None] = []
    fetch(noting(feedback, noted), HTTP_SERVICE_CONTEXT_INTERACTION=told)
    assert noted == [None]


def test_a_known_customer_is_asked_whatever_the_request_says(endpoint: Endpoint, feedback: AskingClient) -> None:
    (interaction,) = fetch(noting(feedback, [])).all(HEADER)
    seen = fetch(noting(feedback, [], user_ref="u"), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert "_service" in json.loads(seen.body)
    assert not seen.all(HEADER)


def test_the_context_of_the_repetition_is_asked_for_by_its_interaction(
    endpoint: Endpoint, feedback: AskingClient
) -> None:
    context = feedback.customer_context

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        context.context(purpose="product_personalization", interaction_id=context.interaction(environ))
        return asking(feedback)(environ, start_response)

    (interaction,) = fetch(feedback.wsgi(app)).all(HEADER)
    endpoint.usual = replying({"retrievalId": "r", "items": []})
    fetch(feedback.wsgi(app), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert [request.path.rpartition("/")[2] for request in endpoint.received] == ["requests", "customer-context"]
    assert endpoint.received[1].content == {"purpose": "product_personalization", "interactionId": interaction}


def test_a_response_that_asks_nothing_has_no_such_header(endpoint: Endpoint, feedback: AskingClient) -> None:
    assert not fetch(feedback.wsgi(answering())).all(HEADER)
    endpoint.usual = replying(question(endpoint.url, "no_relevant_context", submit=None, consent=None))
    assert not fetch(feedback.wsgi(asking(feedback))).all(HEADER)


def test_interactions_are_random_uuids_of_version_4() -> None:
    key = CompanyKey(COMPANY_KEY)
    made = {bound_interaction(key, "GET /products") for _ in range(1000)}
    assert len(made) == 1000
    assert {(uuid.UUID(one).version, uuid.UUID(one).variant) for one in made} == {(4, uuid.RFC_4122)}
    assert all(is_bound(one, key, "GET /products") for one in made)
    assert not any(is_bound(one, key, "GET /orders") for one in made)


@pytest.mark.parametrize("vector", VECTORS["contextInteractions"])
def test_an_interaction_belongs_where_the_vector_says(vector: dict[str, Any]) -> None:
    assert is_bound(vector["interactionId"], CompanyKey(vector["companyKey"]), vector["route"]) is vector["isBound"]


@pytest.mark.parametrize("cache_mode", ["safe", "private"])
@pytest.mark.parametrize("mode", ["off", "never_ask"])
def test_the_answer_to_the_repetition_is_kept_out_of_caches(endpoint: Endpoint, mode: str, cache_mode: str) -> None:
    endpoint.usual = replying(question(endpoint.url))
    feedback = AskingClient(endpoint.url, mode=mode, cache_mode=cache_mode)
    (interaction,) = fetch(feedback.wsgi(asking(feedback))).all(HEADER)
    for headers in (
        [JSON, ("Cache-Control", "public, max-age=60"), ("Expires", "x")],
        [("Content-Type", "text/plain")],
    ):
        seen = fetch(feedback.wsgi(answering(headers=headers)), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
        assert seen.all("Cache-Control") == ["private, no-store"]
        assert not seen.all("Expires")


def test_a_name_that_was_not_given_out_changes_no_policy_of_caches(endpoint: Endpoint) -> None:
    app = answering(headers=[JSON, ("Cache-Control", "public, max-age=60")])
    told = {"HTTP_SERVICE_CONTEXT_INTERACTION": str(uuid.uuid4())}
    assert fetch(AskingClient(endpoint.url).wsgi(app), **told) == fetch(app, **told)
