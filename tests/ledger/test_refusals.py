"""A refused event is counted under the code of its error, and the answer says so."""

import uuid
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.ledger import refusals
from app.telemetry.persistence import persist_waiting_batches
from tests.factories import Company, bearer, event, observation, send_evidence
from tests.ledger.batches import BATCHES, batch_headers, counts, ledger, send
from tests.limits.conftest import SetLimits

BAD = {"surface": "smoke signals"}
HEADER = "Agent-Feedback-Refused"


def post(client: FlaskClient, company: Company, body: bytes, **headers: str) -> Any:
    return client.post(BATCHES, data=body, headers={**batch_headers(), **bearer(company.product_key), **headers})


def test_events_that_are_named_are_refused_and_not_the_others(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    response = send(client, company, [event(), event(**BAD, statusCode=1), event(), event(**BAD)])
    assert (response.status_code, response.headers[HEADER]) == (422, "2")
    assert counts(app, company) == {"refused": {"invalid_value": 2}}


def test_a_batch_that_is_refused_as_a_whole_costs_all_its_events(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    body = {"events": [event() for _ in range(7)], "sender": 1}
    response = client.post(BATCHES, json=body, headers={**batch_headers(), **bearer(company.product_key)})
    assert (response.status_code, response.headers[HEADER]) == (400, "7")
    assert send(client, company, 101).headers[HEADER] == "101"
    assert counts(app, company) == {"refused": {response.get_json()["code"]: 7, "invalid_value": 101}}


@pytest.mark.parametrize(
    ("body", "headers", "code"),
    [
        (b"{", {}, "malformed_json"),
        (b"[]", {}, "malformed_json"),
        (b"{}", {}, "invalid_value"),
        (b'{"events": 5}', {}, "invalid_value"),
        (b"x" * 1_048_577, {}, "request_entity_too_large"),
        (b"{}", {"Content-Encoding": "gzip"}, "unsupported_media_type"),
        (b"\xff", {}, "malformed_json"),
        (b'{"events":' + b"[" * 20_000, {}, "malformed_json"),
    ],
)
def test_a_body_that_does_not_show_its_events_counts_as_one(
    app: Flask, client: FlaskClient, company: Company, body: bytes, headers: dict[str, str], code: str
) -> None:
    response = post(client, company, body, **headers)
    assert response.headers[HEADER] == "1"
    assert counts(app, company) == {"refused": {response.get_json()["code"]: 1}}


@pytest.mark.parametrize(("body", "status"), [(b'{"events": []}', 422), (b'{"events": [], "sender": 1}', 400)])
def test_a_batch_without_events_costs_none(
    app: Flask, client: FlaskClient, company: Company, body: bytes, status: int
) -> None:
    responses = [post(client, company, body), send_evidence(client, company)]
    assert [(response.status_code, HEADER in response.headers) for response in responses] == [
        (status, False),
        (422, False),
    ]
    assert counts(app, company) == {}


def test_a_refusal_is_counted_once_for_a_batch(app: Flask, client: FlaskClient, company: Company) -> None:
    headers = batch_headers(uuid.uuid4(), lost="queue_full=3")
    for _ in range(2):
        assert send(client, company, [event(), event(**BAD)], headers).headers[HEADER] == "1"
    # The losses of a refused batch are not told: the SDK reports them again.
    assert counts(app, company) == {"refused": {"invalid_value": 1}}


def test_a_batch_that_arrives_all_the_same_is_not_refused(
    app: Flask, client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    headers, events = batch_headers(uuid.uuid4()), [event(), event()]
    set_limits(events=2)
    assert send(client, company, events, headers).status_code == 202
    # Its answer was lost, and the quota is used up by the batch itself.
    response = send(client, company, events, headers)
    assert (response.status_code, response.headers[HEADER]) == (403, "2")
    assert counts(app, company) == {"accepted": 2}


@pytest.mark.parametrize("is_persisted_between", [True, False])
def test_a_refused_batch_that_is_reported_as_unanswered_is_lost_with_what_it_carried(
    app: Flask, client: FlaskClient, company: Company, set_limits: SetLimits, is_persisted_between: bool
) -> None:
    batch_id = uuid.uuid4()
    set_limits(events=1)
    send(client, company, 2, batch_headers(batch_id, lost="queue_full=3"))
    losses = "queue_full=3", "refused=2"
    report = batch_headers(uuid.uuid4(), lost=";".join(losses), unanswered=f"{batch_id}:{','.join(losses)}")
    for _ in range(2):
        set_limits(events=1_000)
        send(client, company, 1, report)
        if is_persisted_between:
            persist_waiting_batches()
    assert counts(app, company) == {"accepted": 2, "lost": {"queue_full": 3, "refused": 2}}


def test_without_a_valid_key_nothing_is_counted(app: Flask, client: FlaskClient, company: Company) -> None:
    response = client.post(BATCHES, json={"events": [event()]}, headers={**batch_headers(), **bearer("af_live_x")})
    assert response.status_code == 401
    assert HEADER not in response.headers
    assert counts(app, company) == {}


def test_what_is_asked_to_come_again_is_not_refused(
    app: Flask, client: FlaskClient, company: Company, set_limits: SetLimits
) -> None:
    set_limits(key="1/minute")
    assert [send(client, company).status_code for _ in range(2)] == [202, 429]
    assert counts(app, company) == {"accepted": 1}


def test_a_refusal_that_is_recorded_again_after_a_lost_connection_counts_once(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    execute = refusals.RECORD_REFUSAL._execute

    def execute_twice(parameters: dict[str, Any]) -> Any:
        execute(parameters)
        return execute(parameters)

    monkeypatch.setattr(refusals.RECORD_REFUSAL, "_execute", execute_twice)
    assert "Agent-Feedback-Batch" not in batch_headers()
    for _ in range(2):
        send(client, company, [event(**BAD)])
    assert counts(app, company) == {"refused": {"invalid_value": 2}}


def test_a_failure_to_count_does_not_change_the_answer(
    app: Flask, client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = send(client, company, [event(**BAD)]).get_json()

    def fail(**_: object) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(refusals.RECORD_REFUSAL, "first", fail)
    response = send(client, company, [event(**BAD)])
    assert (response.status_code, HEADER in response.headers) == (422, False)
    assert response.get_json()["errors"] == expected["errors"]


def test_evidence_is_counted_too(app: Flask, client: FlaskClient, company: Company) -> None:
    first, old = observation(), observation(observedAt="2020-01-01T00:00:00Z")
    send_evidence(client, company, first, first, old)
    send_evidence(client, company, first, observation())
    send_evidence(client, company, first, observation(agentToken="Nobody"))
    (row,) = ledger(app, company)
    assert (row["source"], row["sdk"]) == ("evidence", "unknown")
    assert (row["accepted"], row["duplicate"], row["expired"]) == (2, 2, 1)
    assert row["refused"] == {"token_not_allowed": 1}
