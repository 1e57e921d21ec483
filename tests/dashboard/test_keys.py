"""Keys are listed, created, rotated and revoked on their page."""

import json
import re
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.accounts import users
from app.accounts.models import AuditEntry
from app.core.database import session, transaction
from app.products import service as products
from app.products.key_cache import key_cache
from app.products.rules import KeyKind
from tests.context_api import Clock
from tests.dashboard.browser import send
from tests.factories import Company, create_company, event, send_events, sign_in
from tests.reading.fixtures import forge_cursor


def create(client: FlaskClient, **values: str) -> TestResponse:
    return send(client, "/keys", "/keys", **{"kind": "product", **values})


def secret_of(page: TestResponse) -> str:
    match = re.search(r'<code class="secret" id="secret">([^<]+)</code>', page.text)
    assert match is not None
    return unescape(match[1])


def key_id(text: str) -> str:
    return text.split("_")[2]


def actions(company: Company) -> list[tuple[str, str]]:
    with transaction():
        rows = session().scalars(
            select(AuditEntry).where(AuditEntry.workspace_id == company.workspace_id).order_by(AuditEntry.id)
        )
        return [(entry.action, entry.actor) for entry in rows.all() if entry.action.startswith("key.")]


def sign_in_as(client: FlaskClient, company: Company, role: str) -> None:
    with transaction():
        user = users.create_user(company.workspace_id, f"{role}@example.com", role)
    sign_in(client, company, json={"email": user.email, "password": user.password})


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def test_a_new_key_is_shown_once_and_works(owner: FlaskClient, company: Company) -> None:
    page = create(owner, expiry_days="30")
    text = secret_of(page)
    assert 'data-copy="#secret"' in page.text
    response = owner.post(
        "/api/v2/telemetry/batches", json={"events": [event()]}, headers={"Authorization": f"Bearer {text}"}
    )
    assert response.status_code == 202
    assert text not in owner.get("/keys").text
    assert key_id(text)[:12] in owner.get("/keys").text
    assert actions(company)[-1][0] == "key.created"
    assert actions(company)[-1][1].startswith("user ")


def test_only_a_product_key_can_have_the_company_right(owner: FlaskClient) -> None:
    page = create(owner, kind="read", has_company_right="y")
    assert page.status_code == 422
    assert "Only a product key" in page.text
    assert "af_company_" not in page.text
    assert "company right" in create(owner, has_company_right="y").text or "company right" in owner.get("/keys").text


@pytest.mark.parametrize("values", [{"kind": "root"}, {"expiry_days": "0"}, {"expiry_days": "soon"}])
def test_a_wrong_form_creates_nothing(owner: FlaskClient, company: Company, values: dict[str, str]) -> None:
    before = actions(company)
    assert create(owner, **values).status_code == 422
    assert actions(company) == before


def test_the_list_shows_state_and_use_and_filters(owner: FlaskClient, company: Company, clock: Clock) -> None:
    with transaction():
        soon = products.create_key(company.environment_id, KeyKind.READ, expires_in=timedelta(days=3))
        late = products.create_key(company.environment_id, KeyKind.READ, expires_in=timedelta(minutes=1))
        revoked = products.revoke_key(products.create_key(company.environment_id, KeyKind.READ).id)
    send_events(owner, company, event())
    clock.advance(minutes=2)
    page = owner.get("/keys").text
    assert [page.count(f'class="badge {state}"') for state in ("active", "expiring", "expired", "revoked")] == [
        2,
        1,
        1,
        1,
    ]
    assert page.count('data-label="Last used"><span class="quiet">never</span>') == 4
    for state, key in (("expiring", soon.id), ("expired", late.id), ("revoked", revoked.id)):
        rows = re.findall(r'<code title="(\w+)">', owner.get(f"/keys?state={state}&kind=read").text)
        assert rows == [key]
    assert (
        "No key of this environment has what the filters ask for" in owner.get("/keys?state=revoked&kind=company").text
    )
    assert owner.get("/keys?state=lost").status_code == 422


def test_the_next_page_continues_the_list(owner: FlaskClient, company: Company) -> None:
    with transaction():
        for _ in range(50):
            products.create_key(company.environment_id, KeyKind.READ)
    first = owner.get("/keys").text
    match = re.search(r'rel="next" href="([^"]+)"', first)
    assert match is not None
    second = owner.get(unescape(match[1])).text
    ids = [re.findall(r'<code title="(\w+)">', page) for page in (first, second)]
    assert [len(page_ids) for page_ids in ids] == [50, 2]
    assert not set(ids[0]) & set(ids[1])
    assert not re.search(r"[?&](page|offset)=", match[1])
    cursor = match[1].partition("after=")[2].partition("&")[0]
    for place in (["x"], [ids[0][-1].upper()], [ids[0][-1], ""], [f"{ids[0][-1]}\n"]):
        assert owner.get(f"/keys?after={forge_cursor(cursor, place)}").status_code == 422


def test_the_export_has_the_keys_of_the_filters_without_their_texts(owner: FlaskClient, company: Company) -> None:
    lines = [json.loads(line) for line in owner.get("/keys/export.ndjson?kind=company").text.splitlines()]
    assert [(line["keyId"], line["kind"]) for line in lines] == [(key_id(company.company_key), "company")]
    answer = owner.get("/keys/export.csv")
    assert "attachment" in answer.headers["Content-Disposition"]
    assert len(answer.text.splitlines()) == 3
    assert company.product_key not in answer.text


def test_a_rotated_key_ends_after_the_overlap(owner: FlaskClient, company: Company, clock: Clock) -> None:
    path = f"/keys/{key_id(company.product_key)}/rotate"
    assert "overlap" in owner.get(path).text
    page = send(owner, path, path, overlap_hours="2")
    text = secret_of(page)
    assert text != company.product_key
    assert send_events(owner, company, event()).status_code == 202
    clock.advance(hours=3)
    key_cache().clear()
    assert send_events(owner, company, event()).status_code == 401
    headers = {"Authorization": f"Bearer {text}"}
    assert owner.post("/api/v2/telemetry/batches", json={"events": [event()]}, headers=headers).status_code == 202
    assert actions(company)[-1][0] == "key.rotated"


def test_a_rotation_that_is_sent_twice_makes_one_successor(owner: FlaskClient, company: Company) -> None:
    path = f"/keys/{key_id(company.product_key)}/rotate"
    assert send(owner, path, path, overlap_hours="2").status_code == 200
    answer = send(owner, path, path, overlap_hours="2")
    assert answer.status_code == 409
    assert "was rotated already" in answer.text
    assert [action for action, _ in actions(company)].count("key.rotated") == 1


@pytest.mark.parametrize("hours", ["", "-1", "169", "x"])
def test_an_impossible_overlap_changes_nothing(owner: FlaskClient, company: Company, hours: str) -> None:
    path = f"/keys/{key_id(company.product_key)}/rotate"
    assert send(owner, path, path, overlap_hours=hours).status_code == 422
    assert "key.rotated" not in dict(actions(company))


def test_a_key_is_revoked_behind_a_page_that_says_what_stops(owner: FlaskClient, company: Company) -> None:
    assert send_events(owner, company, event()).status_code == 202
    path = f"/keys/{key_id(company.product_key)}/revoke"
    page = owner.get(path).text
    assert "Capabilities that were signed with it are refused" in page
    assert "Last used</dt><dd><time" in page
    assert send_events(owner, company, event()).status_code == 202
    answer = send(owner, path, path)
    assert (answer.status_code, answer.location.split("?")[0]) == (303, "/keys")
    assert "The key is revoked" in owner.get(answer.location).text
    # A process asks again within a second.
    key_cache().clear()
    assert send_events(owner, company, event()).status_code == 401
    assert owner.get("/api/session").status_code == 200
    assert actions(company)[-1][0] == "key.revoked"


def test_a_key_that_has_ended_is_neither_rotated_nor_revoked(
    owner: FlaskClient, company: Company, clock: Clock
) -> None:
    with transaction():
        products.revoke_key(key_id(company.product_key))
        expired = products.create_key(company.environment_id, KeyKind.READ, expires_in=timedelta(days=1)).id
    clock.advance(days=2)
    sign_in(owner, company)
    revoked_path, expired_path = f"/keys/{key_id(company.product_key)}", f"/keys/{expired}"
    sentences = {
        f"{revoked_path}/revoke": "This product key is revoked already",
        f"{revoked_path}/rotate": "This product key is revoked already",
        f"{expired_path}/rotate": "This read key has expired already",
    }
    for path, sentence in sentences.items():
        page = owner.get(path).text
        assert sentence in page
        assert f'action="{path}' not in page
    assert f'action="{expired_path}/revoke' in owner.get(f"{expired_path}/revoke").text


def test_a_key_that_is_sent_after_its_end_is_marked(owner: FlaskClient, company: Company) -> None:
    with transaction():
        products.revoke_key(key_id(company.product_key))
    key_cache().clear()
    assert "refused <time" not in owner.get("/keys").text
    assert send_events(owner, company, event()).status_code == 401
    assert "refused <time" in owner.get("/keys").text


def test_a_member_sees_the_keys_and_no_form(client: FlaskClient, company: Company) -> None:
    sign_in_as(client, company, "member")
    page = client.get("/keys").text
    assert key_id(company.product_key)[:12] in page
    assert "Create the key" not in page
    assert "/rotate" not in page
    id_ = key_id(company.product_key)
    assert create(client).status_code == 403
    for path in (f"/keys/{id_}/rotate", f"/keys/{id_}/revoke"):
        assert client.get(path).status_code == 403
        assert send(client, path, overlap_hours="1").status_code == 403
    assert send_events(client, company, event()).status_code == 202


def test_keys_of_another_environment_are_not_found(owner: FlaskClient, company: Company) -> None:
    with transaction():
        other = create_company()
    for id_ in (key_id(other.product_key), "no-key", "%00"):
        for path in (f"/keys/{id_}/rotate", f"/keys/{id_}/revoke"):
            assert owner.get(path).status_code == 404
            assert send(owner, path, overlap_hours="1").status_code == 404
    assert send_events(owner, other, event()).status_code == 202
    assert owner.get(f"/keys?environment={other.environment_id}").status_code == 404
