"""The interaction id of an anonymous request for context is accepted with a repetition of the same operation only."""

import json
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from agent_feedback.context.interaction import CustomerReferences, is_signed_interaction_id, signed_interaction_id
from agent_feedback.keys import CompanyKey

from tests.sdk.endpoint import COMPANY_KEY, Endpoint
from tests.sdk.shop import CompanyClient, context_action, json_reply, make_enrichment_app, requests_of
from tests.sdk.site import JSON, App, fetch, make_app

HEADER = "Service-Context-Interaction"


@pytest.fixture
def feedback(endpoint: Endpoint) -> CompanyClient:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    return CompanyClient(endpoint.url)


def recording_app(feedback: CompanyClient, interactions: list[str | None], **arguments: Any) -> App:
    """Return a product that records the interaction id of each request, and requests context."""

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        interactions.append(feedback.customer_context.interaction(environ))
        assert environ.get("agent_feedback.context_interaction") == interactions[-1]
        return make_enrichment_app(feedback, **arguments)(environ, start_response)

    return feedback.wsgi(app)


def test_the_repetition_is_recognised_and_not_asked_again(endpoint: Endpoint, feedback: CompanyClient) -> None:
    interactions: list[str | None] = []
    app = recording_app(feedback, interactions)
    (interaction,) = fetch(app, "/products/1").get_all(HEADER)
    # Another number is the same operation.
    second_response = fetch(app, "/products/2", HTTP_SERVICE_CONTEXT_INTERACTION=interaction.upper())
    assert interactions == [None, interaction]
    assert "_service" not in json.loads(second_response.body)
    assert not second_response.get_all(HEADER)
    assert len(requests_of(endpoint)) == 1
    # It is a new interaction all the same.
    assert feedback.events[0]["interactionId"] == interaction != feedback.events[1]["interactionId"]


def test_another_process_with_the_same_key_recognises_it_too(endpoint: Endpoint, feedback: CompanyClient) -> None:
    interactions: list[str | None] = []
    (interaction,) = fetch(recording_app(feedback, [])).get_all(HEADER)
    fetch(recording_app(CompanyClient(endpoint.url), interactions), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert interactions == [interaction]


@pytest.mark.parametrize(
    "other_request", [{"path": "/orders/other"}, {"REQUEST_METHOD": "POST"}, {"SCRIPT_NAME": "/mounted"}]
)
def test_another_operation_does_not_get_it(feedback: CompanyClient, other_request: dict[str, Any]) -> None:
    interactions: list[str | None] = []
    app = recording_app(feedback, interactions)
    (interaction,) = fetch(app).get_all(HEADER)
    response = fetch(app, HTTP_SERVICE_CONTEXT_INTERACTION=interaction, **other_request)
    assert interactions == [None, None]
    assert response.get_all(HEADER)


@pytest.mark.parametrize(
    "header",
    ["", "x", str(uuid.uuid4()), str(uuid.uuid1()), "{" + str(uuid.uuid4()) + "}", "0" * 5000, "\xe9" * 36, "a, b"],
    ids=["empty", "short", "uuid4", "uuid1", "braces", "long", "not ASCII", "list"],
)
def test_an_id_that_was_not_issued_is_ignored(feedback: CompanyClient, header: str) -> None:
    interactions: list[str | None] = []
    fetch(recording_app(feedback, interactions), HTTP_SERVICE_CONTEXT_INTERACTION=header)
    assert interactions == [None]


def test_a_known_customer_is_asked_whatever_the_request_says(endpoint: Endpoint, feedback: CompanyClient) -> None:
    (interaction,) = fetch(recording_app(feedback, [])).get_all(HEADER)
    response = fetch(
        recording_app(feedback, [], customer=CustomerReferences("u")), HTTP_SERVICE_CONTEXT_INTERACTION=interaction
    )
    assert "_service" in json.loads(response.body)
    assert not response.get_all(HEADER)


def test_the_context_of_the_repetition_is_asked_for_by_its_interaction(
    endpoint: Endpoint, feedback: CompanyClient
) -> None:
    context = feedback.customer_context

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        context.context(purpose="product_personalization", interaction_id=context.interaction(environ))
        return make_enrichment_app(feedback)(environ, start_response)

    (interaction,) = fetch(feedback.wsgi(app)).get_all(HEADER)
    endpoint.default_reply = json_reply({"retrievalId": "r", "items": []})
    fetch(feedback.wsgi(app), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
    assert [request.path.rpartition("/")[2] for request in endpoint.requests] == ["requests", "customer-context"]
    assert endpoint.requests[1].content == {"purpose": "product_personalization", "interactionId": interaction}


def test_a_response_that_asks_nothing_has_no_such_header(endpoint: Endpoint, feedback: CompanyClient) -> None:
    assert not fetch(feedback.wsgi(make_app())).get_all(HEADER)
    endpoint.default_reply = json_reply(context_action(endpoint.url, "no_relevant_context", submit=None, consent=None))
    assert not fetch(feedback.wsgi(make_enrichment_app(feedback))).get_all(HEADER)


def test_interactions_are_random_uuids_of_version_4() -> None:
    key = CompanyKey(COMPANY_KEY)
    ids = {signed_interaction_id(key, "GET /products") for _ in range(1000)}
    assert len(ids) == 1000
    assert {(uuid.UUID(text).version, uuid.UUID(text).variant) for text in ids} == {(4, uuid.RFC_4122)}
    assert all(is_signed_interaction_id(text, key, "GET /products") for text in ids)
    assert not any(is_signed_interaction_id(text, key, "GET /orders") for text in ids)


@pytest.mark.parametrize("cache_mode", ["safe", "private"])
@pytest.mark.parametrize("mode", ["off", "never_ask"])
def test_the_answer_to_the_repetition_is_kept_out_of_caches(endpoint: Endpoint, mode: str, cache_mode: str) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    feedback = CompanyClient(endpoint.url, mode=mode, cache_mode=cache_mode)
    (interaction,) = fetch(feedback.wsgi(make_enrichment_app(feedback))).get_all(HEADER)
    for headers in (
        [JSON, ("Cache-Control", "public, max-age=60"), ("Expires", "x")],
        [("Content-Type", "text/plain")],
    ):
        response = fetch(feedback.wsgi(make_app(headers=headers)), HTTP_SERVICE_CONTEXT_INTERACTION=interaction)
        assert response.get_all("Cache-Control") == ["private, no-store"]
        assert not response.get_all("Expires")


def test_an_id_that_was_not_issued_leaves_cache_control_as_it_is(endpoint: Endpoint) -> None:
    app = make_app(headers=[JSON, ("Cache-Control", "public, max-age=60")])
    header = {"HTTP_SERVICE_CONTEXT_INTERACTION": str(uuid.uuid4())}
    assert fetch(CompanyClient(endpoint.url).wsgi(app), **header) == fetch(app, **header)
