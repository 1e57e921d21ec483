"""A request with `Sec-GPC: 1` is asked for nothing that serves advertising, and nothing is retrieved for it."""

import json
from typing import Any

import pytest

from tests.sdk.adapters import ADAPTERS, Call, respond
from tests.sdk.endpoint import Endpoint
from tests.sdk.shop import CompanyClient, context_action, json_reply

ADVERTISING = "targeted_advertising"
OTHER = "product_personalization"
INTERACTION = "01234567-89ab-4def-8123-456789abcdef"
PATHS = ("/orders/12", "/health")
"""One that the adapter extends, and one that it leaves alone."""

pytestmark = pytest.mark.parametrize("adapter", ADAPTERS)


@pytest.mark.parametrize(
    ("value", "purpose", "is_asked"),
    [("1", ADVERTISING, False), ("1", OTHER, True), ("0", ADVERTISING, True), (None, ADVERTISING, True)],
)
def test_the_agent_is_not_asked_for_advertising(
    adapter: str, endpoint: Endpoint, value: str | None, purpose: str, is_asked: bool
) -> None:
    endpoint.default_reply = json_reply(context_action(endpoint.url))
    feedback = CompanyClient(endpoint.url)
    headers = {} if value is None else {"Sec-GPC": value}
    call = Call(request_headers=headers, view=lambda source: feedback.customer_context.ask(source, purpose=purpose))
    response = respond(adapter, feedback, call)
    assert ("_service" in json.loads(response.body), len(endpoint.requests)) == (is_asked, is_asked)
    assert response.has_envelope


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_retrieved_for_advertising(adapter: str, endpoint: Endpoint, path: str) -> None:
    feedback = CompanyClient(endpoint.url)

    def retrieve(source: Any) -> None:
        for purpose in (ADVERTISING, OTHER):
            feedback.customer_context.context(purpose=purpose, interaction_id=INTERACTION)

    respond(adapter, feedback, Call(path=path, request_headers={"Sec-GPC": "1"}, view=retrieve))
    assert [request.content["purpose"] for request in endpoint.requests] == [OTHER]
    # The next request of this thread is another user's.
    respond(adapter, feedback, Call(path=path, view=retrieve))
    assert [request.content["purpose"] for request in endpoint.requests] == [OTHER, ADVERTISING, OTHER]
