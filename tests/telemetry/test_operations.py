"""The operation of an event: what is refused, and what is stored."""

import uuid

import pytest
from flask.testing import FlaskClient

from app.core.database import transaction
from app.interactions.service import find_interaction
from app.telemetry import persistence
from tests.context_api import ContextApi
from tests.factories import Company, event, send_events


def stored_operation(company: Company, interaction_id: str) -> str:
    with transaction():
        row = find_interaction(company.environment_id, uuid.UUID(interaction_id))
    assert row is not None
    operation: str = row["operation"]
    return operation


OBJECT_ID = "5aaf58b2-69d7-4af0-a4cf-faf8edf057a9"


@pytest.mark.parametrize("operation", ["/orders/4711", f"/orders/{OBJECT_ID}", f"/ORDERS/{OBJECT_ID.upper()}"])
def test_an_operation_is_stored_without_the_id_of_one_thing(
    client: FlaskClient, company: Company, operation: str
) -> None:
    raw, plain = event(operation=operation), event(operation="/carts")
    assert send_events(client, company, raw, plain).status_code == 202
    persistence.persist_waiting_batches()
    assert stored_operation(company, raw["interactionId"]).lower() == "/orders/:id"
    assert stored_operation(company, plain["interactionId"]) == "/carts"


@pytest.mark.parametrize("sign", ["%40", "%3F", "%3f", "%23", "%20", "%0A", "%0d", "@", "?", "#", " ", "\u0085"])
def test_an_address_or_query_in_an_operation_is_refused_in_every_spelling(
    client: FlaskClient, company: Company, sign: str
) -> None:
    response = send_events(client, company, event(), event(operation=f"/users/jo{sign}example.com"))
    assert (response.status_code, response.json["errors"][0]["code"]) == (422, "pattern")
    assert response.json["errors"][0]["pointer"] == "/events/1/operation"


@pytest.mark.parametrize("operation", ["/100%", "/a%2Fb", "/caf%C3%A9", "/%41", "/%2", "/%%"])
def test_other_percent_signs_are_kept(client: FlaskClient, company: Company, operation: str) -> None:
    interaction = event(operation=operation)
    assert send_events(client, company, interaction).status_code == 202
    persistence.persist_waiting_batches()
    assert stored_operation(company, interaction["interactionId"]) == operation


def test_a_request_for_context_has_its_operation_normalized(context_api: ContextApi) -> None:
    interaction_id = str(uuid.uuid4())
    assert context_api.ask(interactionId=interaction_id, operation="/hotels/4711").status_code == 200
    assert stored_operation(context_api.company, interaction_id) == "/hotels/:id"
    second_request = context_api.ask(interactionId=interaction_id, operation="/hotels/:id")
    assert (second_request.status_code, context_api.ask(operation="/a%40b").status_code) == (200, 422)
