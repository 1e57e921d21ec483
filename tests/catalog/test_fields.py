"""A product's own fields, and the built-in ones."""

import tomllib
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from app.accounts.models import AuditEntry
from app.catalog.entries import FILE, BadCatalog, catalog_file, read
from app.catalog.rules import MAX_FIELDS
from app.catalog.sensitive import find_sensitive
from app.core.database import session, transaction
from tests.context_api import ADVERTISING, ContextApi, item
from tests.factories import Company, bearer, create_company

FIELDS = "/api/v2/enrichment/fields"


def list_fields(client: FlaskClient, company: Company) -> Any:
    return client.get(FIELDS, headers=bearer(company.company_key)).json


def delete(context_api: ContextApi, key: str) -> Any:
    return context_api.client.delete(f"{FIELDS}/{key}", headers=bearer(context_api.company.company_key))


def test_a_field_is_stored_listed_and_removed(context_api: ContextApi) -> None:
    response = context_api.put_field("trip.pace", operations=["/search"], type="customer_goal")
    assert response.status_code == 200, response.data
    assert {name: response.json[name] for name in response.json if not name.endswith("At")} == {
        "key": "trip.pace",
        "label": "Preferred pace",
        "type": "customer_goal",
        "allowedValues": ["slow", "fast"],
        "targetedAdvertisingSafe": False,
        "operations": ["/search"],
        "enabled": True,
    }
    assert list_fields(context_api.client, context_api.company)["fields"] == [response.json]
    assert delete(context_api, "trip.pace").json == response.json
    assert delete(context_api, "trip.pace").status_code == 404
    assert list_fields(context_api.client, context_api.company)["fields"] == []


def test_a_field_that_is_not_there_is_answered_with_those_that_are(context_api: ContextApi) -> None:
    context_api.put_field("trip.pace")
    error_response = delete(context_api, "trip.speed")
    assert (error_response.status_code, error_response.json["code"]) == (404, "unknown_field_key")
    assert error_response.json["errors"][0]["allowed"] == ["trip.pace"]


def test_replacing_a_field_keeps_when_it_was_created(context_api: ContextApi) -> None:
    first_field = context_api.put_field("trip.pace").json
    second_field = context_api.put_field("trip.pace", operations=None, allowedValues=["any"]).json
    assert second_field["createdAt"] == first_field["createdAt"] < second_field["updatedAt"]
    assert (second_field["allowedValues"], second_field["operations"]) == (["any"], None)


def test_one_enabled_field_replaces_the_built_in_catalog(context_api: ContextApi) -> None:
    assert list_fields(context_api.client, context_api.company)["legacyCatalogActive"] is True
    context_api.put_field("trip.pace", enabled=False)
    assert list_fields(context_api.client, context_api.company)["legacyCatalogActive"] is True
    assert len(context_api.ask().json["constraints"]["allowedFields"]) == 21
    context_api.put_field("trip.pace")
    assert list_fields(context_api.client, context_api.company)["legacyCatalogActive"] is False
    assert context_api.ask().json["constraints"]["allowedFields"] == ["trip.pace"]


def test_the_built_in_catalog_is_listed(context_api: ContextApi) -> None:
    catalog = {entry["key"]: entry for entry in list_fields(context_api.client, context_api.company)["defaultCatalog"]}
    assert len(catalog) == 21
    safe = {key for key, entry in catalog.items() if entry["targetedAdvertisingSafe"]}
    assert {key.partition(".")[0] for key in safe} == {"shopping", "content", "interest"}
    assert catalog["shopping.budget_band"]["allowedValues"] == ["under_50", "50_150", "150_500", "over_500", "flexible"]
    assert "questionType" not in catalog["b2b.primary_goal"]


@pytest.mark.parametrize(
    ("key", "details", "status", "pointer", "code"),
    [
        ("service.pace", {}, 422, "/key", "reserved_namespace"),
        ("Trip.pace", {}, 422, "/key", "pattern"),
        ("trip", {}, 422, "/key", "pattern"),
        ("trip.", {}, 422, "/key", "pattern"),
        ("trip.pace.more", {}, 422, "/key", "pattern"),
        ("trip." + "p" * 48, {}, 422, "/key", "pattern"),
        ("health.diagnosis", {}, 422, "/key", "sensitive_category"),
        ("trip.pace", {"label": "Your income"}, 422, "/label", "sensitive_category"),
        ("trip.pace", {"type": "religion"}, 422, "/type", "sensitive_category"),
        ("trip.pace", {"allowedValues": ["has_passport"]}, 422, "/allowedValues", "sensitive_category"),
        ("trip.pace", {"label": "ab"}, 422, "/label", "length"),
        ("trip.pace", {"label": "x" * 121}, 422, "/label", "length"),
        ("trip.pace", {"label": "Write to somebody@mail-host.com"}, 400, "/label", "personal_data_detected"),
        ("trip.pace", {"type": "Goal"}, 422, "/type", "pattern"),
        ("trip.pace", {"type": "g" * 49}, 422, "/type", "length"),
        ("trip.pace", {"allowedValues": []}, 422, "/allowedValues", "length"),
        ("trip.pace", {"allowedValues": [f"v{n}" for n in range(33)]}, 422, "/allowedValues", "length"),
        ("trip.pace", {"allowedValues": ["slow", "slow"]}, 422, "/allowedValues", "distinct"),
        ("trip.pace", {"allowedValues": ["42"]}, 422, "/allowedValues/0", "pattern"),
        ("trip.pace", {"allowedValues": ["Very slow"]}, 422, "/allowedValues/0", "pattern"),
        ("trip.pace", {"allowedValues": [["slow"]]}, 400, "/allowedValues/0", "nested_content"),
        ("trip.pace", {"operations": []}, 422, "/operations", "length"),
        ("trip.pace", {"operations": ["/a", "/a"]}, 422, "/operations", "distinct"),
        ("trip.pace", {"operations": [f"/{n}" for n in range(33)]}, 422, "/operations", "length"),
        ("trip.pace", {"enabled": "yes"}, 422, "/enabled", "type"),
        ("trip.pace", {"enabled": None}, 422, "/enabled", "null"),
        ("trip.pace", {"sensitive": True}, 400, "/sensitive", "unknown_field"),
        ("trip.pace", {"prompt": "x"}, 400, "/prompt", "forbidden_content"),
    ],
)
def test_a_field_that_is_not_valid_is_refused(
    context_api: ContextApi, key: str, details: dict[str, Any], status: int, pointer: str, code: str
) -> None:
    error_response = context_api.put_field(key, **details)
    assert error_response.status_code == status, error_response.data
    expected = "type" if code == "null" else code
    assert (pointer, expected) in [(problem["pointer"], problem["code"]) for problem in error_response.json["errors"]]
    assert list_fields(context_api.client, context_api.company)["fields"] == []


def test_a_product_has_a_bounded_number_of_fields(context_api: ContextApi) -> None:
    for number in range(MAX_FIELDS):
        assert context_api.put_field(f"trip.n{number}").status_code == 200
    assert context_api.put_field("trip.one_more").json["code"] == "too_many_fields"
    assert context_api.put_field("trip.n1", label="Another label").status_code == 200


def test_another_product_sees_and_changes_nothing(context_api: ContextApi) -> None:
    with transaction():
        other_api = ContextApi(context_api.client, create_company())
    context_api.put_field("trip.pace")
    assert list_fields(other_api.client, other_api.company)["fields"] == []
    assert delete(other_api, "trip.pace").status_code == 404
    assert len(list_fields(context_api.client, context_api.company)["fields"]) == 1


def test_only_a_company_key_is_accepted(client: FlaskClient, company: Company) -> None:
    for token in (company.product_key, company.capability(), "af_company_" + "0" * 32 + "_" + "x" * 43):
        assert client.get(FIELDS, headers=bearer(token)).status_code == 401


def test_a_made_up_category_is_answered_as_a_preference_and_retrieved_as_it_was_written(
    context_api: ContextApi,
) -> None:
    context_api.put_field("trip.goal", type="customer_goal", allowedValues=["relax", "explore"])
    context_api.put_field("trip.budget", type="constraint")
    request = context_api.ask(userRef="u1").json
    entries = {entry["key"]: entry for entry in request["submit"]["bodySchema"]["catalog"]}
    assert (entries["trip.goal"]["type"], entries["trip.goal"]["questionType"]) == ("preference", "customer_goal")
    assert entries["trip.budget"]["type"] == "constraint"
    assert context_api.answer(request, item("trip.goal", "relax", type="customer_goal")).status_code == 422
    assert context_api.answer(request, item("trip.goal", "relax", remember=True)).status_code == 200
    assert context_api.retrieve(userRef="u1").json["items"][0]["type"] == "customer_goal"


def test_a_request_keeps_its_fields_when_they_are_edited_or_removed(context_api: ContextApi) -> None:
    context_api.put_field("trip.pace")
    request = context_api.ask(interactionId="018f1f2e-7b4a-4c12-9c8d-123456789abc", userRef="u1")
    context_api.put_field("trip.pace", allowedValues=["never"], label="Something else")
    assert context_api.inspect(request.json).data == request.data
    delete(context_api, "trip.pace")
    retry = context_api.ask(interactionId="018f1f2e-7b4a-4c12-9c8d-123456789abc", userRef="u1")
    assert retry.data == request.data
    receipt = context_api.answer(request.json, item("trip.pace", "slow", remember=True))
    assert receipt.json["signals"][0]["summary"] == "Preferred pace: slow"
    assert context_api.context_values(userRef="u1") == {"trip.pace": "slow"}


def test_a_field_is_bound_to_an_operation_as_requests_store_it(context_api: ContextApi) -> None:
    field = context_api.put_field("trip.pace", operations=["/trips/42", "/trips/43"]).json
    assert field["operations"] == ["/trips/:id"]
    assert context_api.ask(operation="/trips/7").json["state"] == "answer_ready"


def test_operations_and_purposes_fail_closed(context_api: ContextApi) -> None:
    context_api.put_field("trip.pace", operations=["/search"])
    context_api.put_field("trip.topic", operations=["/read"], targetedAdvertisingSafe=True)
    assert context_api.ask(operation="/search").json["constraints"]["allowedFields"] == ["trip.pace"]
    unbound_response = context_api.ask(operation="/search", fieldKeys=["trip.pace", "trip.topic"])
    assert [(p["pointer"], p["code"]) for p in unbound_response.json["errors"]] == [("/fieldKeys/1", "field_not_bound")]
    unsafe_response = context_api.ask(operation="/search", purpose=ADVERTISING, fieldKeys=["trip.pace"])
    assert [(p["pointer"], p["code"]) for p in unsafe_response.json["errors"]] == [
        ("/fieldKeys/0", "not_advertising_safe")
    ]
    assert context_api.ask(operation="/read", purpose=ADVERTISING).json["constraints"]["allowedFields"] == [
        "trip.topic"
    ]


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({"version": None}, "version"),
        ({"sensitive": {"words": [], "stems": ["a"]}}, "sensitive.words"),
        ({"sensitive": {"words": ["a"]}}, "sensitive.stems"),
        ({"entry": []}, "key of its own"),
        ({"key": "Bad"}, "valid key"),
        ({"label": ""}, "valid label"),
        ({"type": "goal"}, "canonical type"),
        ({"targeted_advertising_safe": "yes"}, "safe for advertising"),
        ({"allowed_values": ["a", "a"]}, "distinct values"),
        ({"allowed_values": ["A b"]}, "snake_case"),
        ({"extra": 1}, "exactly"),
    ],
)
def test_a_catalog_file_with_a_mistake_stops_the_start(change: dict[str, Any], mistake: str) -> None:
    content = tomllib.loads(FILE.read_text())
    if set(change) <= {"version", "sensitive", "entry"}:
        content |= change
    else:
        content["entry"][0] |= change
    with pytest.raises(BadCatalog, match=mistake):
        read(content)


def test_the_built_in_catalog_has_no_sensitive_field() -> None:
    for entry in catalog_file().catalog.entries:
        texts = (entry.key, entry.label, *entry.allowed_values)
        assert find_sensitive(texts, catalog_file().sensitive) is None, entry.key


def audit_details(action: str) -> list[Any]:
    with transaction():
        entries = session().scalars(select(AuditEntry).where(AuditEntry.action == action).order_by(AuditEntry.id))
        return [entry.details for entry in entries]


def test_the_audit_log_has_what_a_change_replaced(context_api: ContextApi) -> None:
    product = str(context_api.company.product_id)
    context_api.put_field("trip.pace")
    context_api.put_field("trip.pace", label="Wanted pace")
    delete(context_api, "trip.pace")
    members = {
        "label": "Preferred pace",
        "type": "preference",
        "allowedValues": ["slow", "fast"],
        "targetedAdvertisingSafe": False,
        "operations": None,
        "enabled": True,
    }
    assert audit_details("field.written") == [
        {"product": product, "before": {}, "after": members},
        {"product": product, "before": {"label": "Preferred pace"}, "after": {"label": "Wanted pace"}},
    ]
    assert audit_details("field.deleted") == [{"product": product, "before": {**members, "label": "Wanted pace"}}]
