"""Who may come in."""

import uuid
from datetime import datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core import clock
from app.core.database import session, transaction
from app.products import service as products
from app.products.models import Key
from app.products.rules import KeyKind
from tests.factories import NOTE, Company, bearer, create_company, create_read_key, event, send_events, send_review

TELEMETRY = "/api/v2/telemetry/batches"
OUTCOMES = "/api/v2/outcomes"


def telemetry_status(client: FlaskClient, authorization: str | None) -> int:
    headers = {"Authorization": authorization} if authorization is not None else {}
    return client.post(TELEMETRY, json={"events": [event()]}, headers=headers).status_code


@pytest.mark.parametrize("path", [TELEMETRY, OUTCOMES])
@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer a b", "Bearer nonsense"])
def test_without_a_credential_of_the_right_shape_nobody_comes_in(
    client: FlaskClient, path: str, authorization: str | None
) -> None:
    headers = {"Authorization": authorization} if authorization is not None else {}
    answer = client.post(path, data=b"not even json", headers=headers)
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_unknown_and_wrong_keys_get_the_same_error(client: FlaskClient, company: Company) -> None:
    unknown_key = f"af_live_{uuid.uuid4().hex}_{'x' * 43}"
    wrong = company.product_key[:-1] + ("a" if company.product_key[-1] != "a" else "b")
    answers = [
        client.post(TELEMETRY, headers=bearer(text)) for text in ("nonsense", unknown_key, wrong, company.company_key)
    ]
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.json["error"], answer.json["code"]) for answer in answers}) == 1


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        (TELEMETRY, "af_live_"),
        (OUTCOMES, "afr2_"),
        ("/api/v2/customer-context", "af_company_"),
        ("/api/v2/enrichment/answers", "aqr1_"),
    ],
)
def test_a_401_names_the_credential_that_the_endpoint_takes(client: FlaskClient, path: str, prefix: str) -> None:
    answer = client.post(path, json={})
    assert prefix in answer.json["error"]
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_capability_whose_time_is_over_says_so(client: FlaskClient, company: Company) -> None:
    answer = client.post(OUTCOMES, headers=bearer(company.capability(issued_at=1_000_000)))
    assert (answer.status_code, answer.json["code"]) == (401, "capability_expired")


def test_an_expired_capability_with_a_wrong_signature_says_nothing(client: FlaskClient, company: Company) -> None:
    token = company.capability(issued_at=1_000_000)
    answer = client.post(OUTCOMES, headers=bearer(token[:-4] + ("AAAA" if token[-4:] != "AAAA" else "BBBB")))
    assert (answer.status_code, answer.json["code"]) == (401, "unauthorized")


def test_a_session_mount_names_no_bearer_token(client: FlaskClient) -> None:
    answer = client.get("/api/session")
    assert (answer.status_code, "WWW-Authenticate" in answer.headers) == (401, False)
    assert "sign in" in answer.json["error"].lower()


def test_bearer_may_be_written_in_any_case(client: FlaskClient, company: Company) -> None:
    assert telemetry_status(client, f"bearer {company.product_key}") == 202


def test_an_api_key_header_is_no_credential(client: FlaskClient, company: Company) -> None:
    answer = client.post(TELEMETRY, json={"events": [event()]}, headers={"X-Api-Key": company.product_key})
    assert answer.status_code == 401


@pytest.mark.parametrize("kind", ["product_key", "company_key"])
def test_a_key_is_no_capability(client: FlaskClient, company: Company, kind: str) -> None:
    assert send_review(client, getattr(company, kind)).status_code == 401


def test_a_capability_is_no_key(client: FlaskClient, company: Company) -> None:
    assert telemetry_status(client, f"Bearer {company.capability()}") == 401


def test_a_company_key_cannot_sign_capabilities(client: FlaskClient, company: Company) -> None:
    key_id = company.company_key.split("_")[2]
    forged_key = f"af_live_{key_id}_{company.company_key.split('_', 3)[3]}"
    token = Company(company.workspace_id, company.product_id, company.environment_id, forged_key, "").capability()
    assert send_review(client, token).status_code == 401


def test_a_capability_signed_by_another_companys_key_id_is_refused(client: FlaskClient, company: Company) -> None:
    with transaction():
        other_company = create_company()
    mixed_token = company.capability().replace(
        company.product_key.split("_")[2], other_company.product_key.split("_")[2]
    )
    assert send_review(client, mixed_token).status_code == 401


def test_a_revoked_key_ends_with_its_cache_entry(app: Flask, client: FlaskClient, company: Company) -> None:
    token = company.capability()
    assert send_events(client, company, event()).status_code == 202
    with transaction():
        products.revoke_key(company.product_key.split("_")[2])
    app.extensions["key_cache"].clear()
    assert send_events(client, company, event()).status_code == 401
    assert send_review(client, token).status_code == 401


def test_an_expired_key_is_refused_though_it_is_still_remembered(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with transaction():
        key = products.create_key(company.environment_id, KeyKind.PRODUCT, expires_in=timedelta(hours=1))
    assert telemetry_status(client, f"Bearer {key.text}") == 202
    now = products.clock.now()
    monkeypatch.setattr("app.core.clock.now", lambda: now + timedelta(hours=1))
    assert telemetry_status(client, f"Bearer {key.text}") == 401


def test_a_rotated_key_and_its_successor_work_side_by_side_during_the_overlap(
    app: Flask, client: FlaskClient, company: Company
) -> None:
    with transaction():
        successor = products.rotate_key(company.product_key.split("_")[2], overlap_hours=1)
    app.extensions["key_cache"].clear()
    assert telemetry_status(client, f"Bearer {company.product_key}") == 202
    assert telemetry_status(client, f"Bearer {successor.text}") == 202


def test_without_an_overlap_the_old_key_ends_at_once(app: Flask, client: FlaskClient, company: Company) -> None:
    with transaction():
        products.rotate_key(company.product_key.split("_")[2], overlap_hours=0)
    app.extensions["key_cache"].clear()
    assert telemetry_status(client, f"Bearer {company.product_key}") == 401


def test_use_is_recorded_to_the_minute(app: Flask, client: FlaskClient, company: Company) -> None:
    send_events(client, company, event())
    with transaction():
        first_use = session().get_one(Key, company.product_key.split("_")[2]).last_used_at
    app.extensions["key_cache"].clear()
    send_events(client, company, event())
    with transaction():
        assert session().get_one(Key, company.product_key.split("_")[2]).last_used_at == first_use is not None


def test_a_failed_attempt_is_no_use(client: FlaskClient, company: Company) -> None:
    telemetry_status(client, f"Bearer {company.product_key[:-1]}!")
    with transaction():
        assert session().get_one(Key, company.product_key.split("_")[2]).last_used_at is None


def refused_at(key: str) -> datetime | None:
    with transaction():
        return session().get_one(Key, key.split("_")[2]).refused_at


@pytest.mark.parametrize("end", [-1, -30, -44])
def test_a_known_key_with_another_text_is_recorded(client: FlaskClient, company: Company, end: int) -> None:
    for key, path in ((company.product_key, TELEMETRY), (company.company_key, "/api/v2/customer-context")):
        assert refused_at(key) is None
        assert client.post(path, headers=bearer(key[:end])).status_code == 401
        assert refused_at(key) is not None


def test_a_key_of_another_kind_is_recorded(client: FlaskClient, company: Company) -> None:
    for key in (company.company_key, create_read_key(company.environment_id)):
        assert telemetry_status(client, f"Bearer {key}") == 401
        assert refused_at(key) is not None


def test_a_valid_product_key_is_not_recorded_where_another_kind_is_wanted(
    client: FlaskClient, company: Company
) -> None:
    assert client.get("/api/v2/reviews", headers=bearer(company.product_key)).status_code == 401
    assert client.post("/api/v2/customer-context", headers=bearer(company.product_key)).status_code == 401
    assert refused_at(company.product_key) is None


def test_every_refused_key_gets_the_same_error(client: FlaskClient, company: Company) -> None:
    with transaction():
        revoked_key = products.create_key(company.environment_id, KeyKind.PRODUCT)
        products.revoke_key(revoked_key.id)
    unknown_keys = [f"af_{kind}_{'0' * 32}_{'x' * 43}" for kind in ("live", "company", "read")]
    known_keys = [revoked_key.text, company.product_key[:-1], company.company_key, company.company_key[:-1]]
    answers = [client.post(TELEMETRY, headers=bearer(key)) for key in (*unknown_keys, *known_keys)]
    assert {answer.status_code for answer in answers} == {401}
    assert len({(answer.json["error"], answer.json["code"]) for answer in answers}) == 1
    assert len({frozenset(answer.headers.keys()) for answer in answers}) == 1


def test_a_refusal_is_recorded_once_a_minute(
    client: FlaskClient, company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, wrong_key = clock.now(), company.product_key[:-1]
    recorded_at = []
    for seconds in (0, 59, 61):
        moment = now + timedelta(seconds=seconds)
        monkeypatch.setattr("app.core.clock.now", lambda moment=moment: moment)
        telemetry_status(client, f"Bearer {wrong_key}")
        recorded_at.append(refused_at(wrong_key))
    assert recorded_at == [now, now, now + timedelta(seconds=61)]


def test_a_read_key_opens_no_other_guard(client: FlaskClient, company: Company) -> None:
    read_key = create_read_key(company.environment_id)
    assert telemetry_status(client, f"Bearer {read_key}") == 401
    assert send_review(client, read_key).status_code == 401
    assert client.post("/api/v2/customer-context", json={}, headers=bearer(read_key)).status_code == 401


def test_cookies_are_not_read(client: FlaskClient, company: Company) -> None:
    client.set_cookie("session", "anything")
    answer = send_review(client, company.capability(), note=NOTE)
    assert answer.status_code == 200
    assert "Set-Cookie" not in answer.headers
