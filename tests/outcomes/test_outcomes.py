"""POST /api/v2/outcomes."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select

from app.core.database import session, transaction
from app.interactions import service as interactions
from app.interactions.service import find_interaction
from app.outcomes.models import Review
from app.products import service as products
from app.products.rules import Mode
from app.telemetry import persistence
from tests.factories import NOTE, Company, bearer, create_company, event, send_events, send_review


def count_reviews() -> int:
    with transaction():
        return session().scalar(select(func.count()).select_from(Review)) or 0


def test_a_review_is_stored_and_returned(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    response = send_review(
        client, company.capability(interaction_id), "partial", "  Two of\tthree   orders\nwere found. "
    )
    assert response.status_code == 200
    assert response.headers["Cache-Control"] == "private, no-store"
    review = response.json["review"]
    assert response.json == {
        "accepted": True,
        "interactionId": interaction_id,
        "review": {
            "id": review["id"],
            "interactionId": interaction_id,
            "outcome": "partial",
            "note": "Two of three orders were found.",
            "source": "capability",
            "createdAt": review["createdAt"],
        },
    }
    assert uuid.UUID(review["id"])
    assert review["createdAt"].endswith("Z")


def test_every_later_submission_gets_the_first_review_byte_for_byte(client: FlaskClient, company: Company) -> None:
    interaction_id = str(uuid.uuid4())
    token = company.capability(interaction_id)
    first = send_review(client, token)
    second_response = send_review(client, token, "failure", "Something entirely different happened.")
    other_token = send_review(client, company.capability(interaction_id), "failure", "A second token for it.")
    assert first.data == second_response.data == other_token.data
    assert count_reviews() == 1


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"outcome": "great", "note": "x"}', b'{"prompt": "x"}', b"x" * 70_000, b"\xff\xfe"],
)
def test_once_a_review_is_stored_any_body_gets_it(client: FlaskClient, company: Company, body: bytes) -> None:
    token = company.capability()
    first = send_review(client, token)
    assert client.post("/api/v2/outcomes", data=body, headers=bearer(token)).data == first.data


def test_a_stored_review_is_returned_after_feedback_was_switched_off(client: FlaskClient, company: Company) -> None:
    token = company.capability()
    first = send_review(client, token)
    set_mode(client.application, company, Mode.OFF)
    assert send_review(client, token).data == first.data


def set_mode(app: Flask, company: Company, mode: Mode) -> None:
    with transaction():
        products.set_environment(company.environment_id, mode=mode)
    app.extensions["key_cache"].clear()


def test_a_hundred_submissions_by_fifty_at_once_store_one_review(app: Flask, company: Company) -> None:
    token, start = company.capability(), threading.Barrier(50)

    def submit(number: int) -> bytes:
        start.wait()
        responses = [
            send_review(app.test_client(), token, note=f"Submission number {number}, try {n}.") for n in (1, 2)
        ]
        assert {response.status_code for response in responses} == {200}
        return responses[0].data

    with ThreadPoolExecutor(50) as pool:
        bodies = set(pool.map(submit, range(50)))
    assert len(bodies) == 1
    assert count_reviews() == 1


@pytest.mark.parametrize(
    ("note", "status"),
    [
        ("", 422),
        ("1234567", 422),
        ("12345678", 200),
        ("x " * 249 + "yz", 200),
        ("x " * 250 + "y", 422),
        ("界" * 7, 422),
    ],
)
def test_the_length_of_a_note_is_counted_after_normalization(
    client: FlaskClient, company: Company, note: str, status: int
) -> None:
    assert send_review(client, company.capability(), note=note).status_code == status


def test_five_hundred_emoji_are_five_hundred_characters(client: FlaskClient, company: Company) -> None:
    response = send_review(client, company.capability(), note="😀" * 500)
    assert response.status_code == 200
    assert response.json["review"]["note"] == "😀" * 500


@pytest.mark.parametrize(
    ("body", "status", "pointer", "code"),
    [
        ({"outcome": "great", "note": NOTE}, 422, "/outcome", "enum"),
        ({"outcome": 1, "note": NOTE}, 422, "/outcome", "type"),
        ({"note": NOTE}, 422, "/outcome", "required"),
        ({"outcome": "success", "note": None}, 422, "/note", "type"),
        ({"outcome": "success", "note": "short"}, 422, "/note", "length"),
        ({"outcome": "success", "note": "a null\x00 in a note"}, 422, "/note", "format"),
        ({"outcome": "success", "note": NOTE, "extra": 1}, 400, "/extra", "unknown_field"),
        ({"outcome": {"a": 1}, "note": NOTE}, 400, "/outcome", "nested_content"),
        ({"outcome": "success", "note": [NOTE]}, 400, "/note", "nested_content"),
        ({"outcome": "success", "note": NOTE, "Prompt": "x"}, 400, "/Prompt", "forbidden_content"),
        ({"outcome": "success", "note": NOTE, "a": [{"tool-input": 1}]}, 400, "/a/0/tool-input", "forbidden_content"),
        ({"outcome": "success", "note": "It sent Bearer private-token abc."}, 400, "/note", "secret_detected"),
        ({"outcome": "success", "note": "Ask jane@corp-mail.com about it."}, 400, "/note", "personal_data_detected"),
    ],
)
def test_a_bad_body_is_told_what_is_wrong(
    client: FlaskClient, company: Company, body: dict[str, object], status: int, pointer: str, code: str
) -> None:
    response = client.post("/api/v2/outcomes", json=body, headers=bearer(company.capability()))
    assert response.status_code == status
    assert [(problem["pointer"], problem["code"]) for problem in response.json["errors"]] == [(pointer, code)]
    assert count_reviews() == 0


def test_the_answer_names_the_limit_that_was_broken(client: FlaskClient, company: Company) -> None:
    errors = send_review(client, company.capability(), "great", "short").json["errors"]
    assert errors[0]["allowed"] == ["success", "partial", "failure"]
    assert (errors[1]["min"], errors[1]["max"]) == (8, 500)


@pytest.mark.parametrize("note", ["The bearer authentication failed twice", "Password reset took two tries"])
def test_honest_notes_about_credentials_pass(client: FlaskClient, company: Company, note: str) -> None:
    assert send_review(client, company.capability(), note=note).status_code == 200


def test_a_body_without_a_content_type_is_read_all_the_same(client: FlaskClient, company: Company) -> None:
    body = b'{"outcome": "success", "note": "No header was sent with this."}'
    assert client.post("/api/v2/outcomes", data=body, headers=bearer(company.capability())).status_code == 200


def test_a_body_above_the_limit_is_413(client: FlaskClient, company: Company) -> None:
    response = client.post("/api/v2/outcomes", data=b" " * 65_537, headers=bearer(company.capability()))
    assert (response.status_code, response.json["code"]) == (413, "request_entity_too_large")


@pytest.mark.parametrize(("mode", "status"), [(Mode.OFF, 410), (Mode.ASK_ONCE, 403), (Mode.ASK_ALWAYS, 403)])
def test_an_environment_that_does_not_take_reviews_says_so(
    client: FlaskClient, company: Company, mode: Mode, status: int
) -> None:
    set_mode(client.application, company, mode)
    assert send_review(client, company.capability()).status_code == status
    assert count_reviews() == 0


def test_a_review_confirms_its_interaction(client: FlaskClient, company: Company) -> None:
    interaction_id = uuid.uuid4()
    send_events(client, company, event(str(interaction_id), statusCode=200))
    persistence.persist_waiting_batches()
    send_review(client, company.capability(str(interaction_id)))
    assert interactions.promote_queued_interactions() == 1
    with transaction():
        row = find_interaction(company.environment_id, interaction_id)
    assert row
    assert (row["classification"], row["confirmed_by"], row["status_code"]) == ("confirmed", "review", 200)


def test_a_review_before_its_telemetry_makes_a_placeholder_that_telemetry_completes(
    client: FlaskClient, company: Company
) -> None:
    interaction_id = uuid.uuid4()
    send_review(client, company.capability(str(interaction_id)))
    interactions.promote_queued_interactions()
    with transaction():
        row = find_interaction(company.environment_id, interaction_id)
    assert row
    assert (row["surface"], row["operation"], row["classification"]) == ("unknown", "pending", "confirmed")
    send_events(client, company, event(str(interaction_id), operation="/late", statusCode=201))
    persistence.persist_waiting_batches()
    with transaction():
        row = find_interaction(company.environment_id, interaction_id)
    assert row
    assert (row["surface"], row["operation"], row["status_code"]) == ("http_json", "/late", 201)
    assert (row["classification"], row["confirmed_by"]) == ("confirmed", "review")


def test_the_same_interaction_id_in_another_environment_is_another_interaction(
    client: FlaskClient, company: Company
) -> None:
    with transaction():
        other_company = create_company()
    interaction_id = str(uuid.uuid4())
    own_response = send_review(client, company.capability(interaction_id))
    other_response = send_review(client, other_company.capability(interaction_id), "failure")
    assert own_response.json["review"]["id"] != other_response.json["review"]["id"]
    assert count_reviews() == 2


def test_browsers_of_any_origin_may_submit(client: FlaskClient, company: Company) -> None:
    preflight = client.options("/api/v2/outcomes", headers={"Origin": "https://agent.example"})
    assert preflight.status_code == 200
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert "Authorization" in preflight.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in preflight.headers
    assert send_review(client, company.capability()).headers["Access-Control-Allow-Origin"] == "*"
