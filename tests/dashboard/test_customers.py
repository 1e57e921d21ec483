"""The pages of customers: found by reference, shown without one."""

import re
import uuid
from datetime import timedelta
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from app.accounts.users import create_user
from app.core import clock
from app.core.database import session, transaction
from app.customers.models import Customer
from app.dashboard.customers import MAX_SIGNALS
from app.enrichment.models import Signal
from app.products import service as products
from app.products.rules import KeyKind, Mode
from tests.context_api import ADVERTISING, PERSONALIZATION, ContextApi, item
from tests.customers.test_export_and_erasure import REFERENCES, dump, run_consumer
from tests.dashboard.browser import send
from tests.dashboard.history import count_statements
from tests.factories import Company, create_company, sign_in

PAGE = "/customers"
STEPS = ("export", "erase", f"opt-out/{PERSONALIZATION}")


@pytest.fixture
def owner(client: FlaskClient, company: Company) -> FlaskClient:
    sign_in(client, company)
    return client


def find(client: FlaskClient, **references: str) -> str:
    """Return the path of the customer that a search leads to."""
    response = send(client, f"{PAGE}/search", PAGE, **references)
    assert response.status_code == 303, response.text
    return response.location.partition("?")[0]


def text_of(page: str) -> str:
    """Return the main text of a page, with one space between words."""
    main = page[page.index("<main") :]
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", main)).split())


def section(page: str, name: str) -> str:
    """Return the text of one section of a page."""
    return text_of("<main>" + page.partition(f'<h2 id="{name}"')[2].partition("</section>")[0])


def test_a_customer_is_found_by_each_reference(owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    assert re.fullmatch(rf"{PAGE}/[0-9a-f-]{{36}}", path)
    assert find(owner, anonymous_ref=f" {REFERENCES['anonymousRef']} ") == path
    assert find(owner, user_ref=REFERENCES["userRef"], account_ref=REFERENCES["accountRef"]) == path


def test_a_reference_is_in_no_address_page_table_or_log(
    owner: FlaskClient, context_api: ContextApi, capfd: pytest.CaptureFixture[str]
) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    failure = send(owner, f"{PAGE}/search", PAGE, user_ref="unknown-reference-4715")
    pages = [failure.text, *(owner.get(address).text for address in (PAGE, path, *(f"{path}/{s}" for s in STEPS)))]
    pages.append(send(owner, f"{path}/export", path + "/export").text)
    send(owner, f"{path}/erase", path + "/erase")
    text = "".join((path, *pages, dump(), *capfd.readouterr()))
    for reference in (*REFERENCES.values(), "unknown-reference-4715"):
        assert reference not in text
        assert reference.encode().hex() not in text


def test_the_page_of_a_customer_shows_what_is_kept(owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    page = owner.get(find(owner, user_ref=REFERENCES["userRef"])).text
    choices = "product personalization Opt out approved .* UTC targeted advertising Opt out none"
    assert re.search(choices, section(page, "choices"))
    assert re.search("anonymous .* user of an account", section(page, "references"))
    signal = (
        r"quiet boutique travel.stay_style quiet_boutique product personalization remembered until .* UTC"
        r" user’s statement, reported by the agent .* UTC production [0-9a-f]{8}… 1$"
    )
    assert re.search(signal, section(page, "signals"))
    assert "/search product personalization answered allowed 1" in section(page, "requests")
    assert section(page, "retrievals").endswith("production product personalization 1")
    assert "d1 product personalization – 1 conversion" in section(page, "decisions")


def test_when_a_customer_was_last_seen_is_a_day(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.ask(userRef="u1")
    day = f"{clock.now():%-d %b %Y}"
    assert f">{day}</td>" in owner.get(PAGE).text
    assert f"<dt>Last seen, to the day</dt><dd>{day}</dd>" in owner.get(find(owner, user_ref="u1")).text


def test_consent_to_feedback_is_shown_by_interaction(owner: FlaskClient, context_api: ContextApi) -> None:
    with transaction():
        products.set_environment(context_api.company.environment_id, mode=Mode.ASK_ALWAYS)
    request = context_api.ask(userRef="u1").json
    token = context_api.company.capability(request["interactionId"])
    assert context_api.post("/consent/decisions", {"decision": "approved"}, token).status_code == 200
    assert "approved" in section(owner.get(find(owner, user_ref="u1")).text, "consent")


def test_what_is_not_remembered_leaves_the_page_when_it_expires(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.answer(context_api.ask(userRef="u1").json, item(remember=False))
    path = find(owner, user_ref="u1")
    assert "for its request" in section(owner.get(path).text, "signals")
    with transaction():
        session().execute(update(Signal).values(expires_at=clock.now() - timedelta(seconds=1)))
    assert "None is kept" in section(owner.get(path).text, "signals")


@pytest.mark.parametrize(
    ("references", "status", "sentence"),
    [
        ({}, 422, "Type a reference"),
        ({"user_ref": "nobody"}, 404, "There is no such customer"),
        ({"user_ref": "has spaces"}, 422, "No customer can have these references."),
        ({"user_ref": "x" * 161}, 422, "No customer can have these references."),
        ({"user_ref": "shared"}, 409, "Several customers have this userRef"),
        ({"user_ref": "shared", "account_ref": "a3"}, 404, "There is no such customer"),
    ],
)
def test_a_search_that_finds_nobody_says_why(
    owner: FlaskClient, context_api: ContextApi, references: dict[str, str], status: int, sentence: str
) -> None:
    for account in ("a1", "a2"):
        context_api.ask(userRef="shared", accountRef=account)
    response = send(owner, f"{PAGE}/search", PAGE, **references)
    assert response.status_code == status
    assert sentence in text_of(response.text)


def test_customers_are_listed_with_their_signals_and_refusals(owner: FlaskClient, context_api: ContextApi) -> None:
    context_api.answer(context_api.ask(userRef="u1").json, item(), item("content.format", "audio"))
    context_api.choose(context_api.ask(userRef="u2", purpose=ADVERTISING).json, "declined")
    text = text_of(owner.get(PAGE).text)
    for reference, signals, declined in (("u1", 2, "–"), ("u2", 0, "targeted advertising")):
        customer_id = find(owner, user_ref=reference).rpartition("/")[2]
        assert re.search(rf"{customer_id} [^–]* UTC {signals} {declined}", text)


def test_signals_are_counted_up_to_a_bound(
    owner: FlaskClient, context_api: ContextApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MAX_SIGNALS == 100
    monkeypatch.setattr("app.dashboard.customers.MAX_SIGNALS", 2)
    context_api.answer(
        context_api.ask(userRef="u1").json,
        item(),
        item("content.format", "audio"),
        item("travel.room_priority", "quiet"),
    )
    assert "2 or more" in text_of(owner.get(PAGE).text)
    assert "The newest 2 signals" in text_of(owner.get(find(owner, user_ref="u1")).text)


def test_the_list_has_a_next_page_and_only_the_shown_days(owner: FlaskClient, company: Company) -> None:
    now, old = clock.now(), clock.now() - timedelta(days=20)
    ids = [uuid.uuid4() for _ in range(52)]
    with transaction():
        for number, customer_id in enumerate(ids):
            seen_at = old if number == 51 else now - timedelta(hours=number)
            session().add(Customer(product_id=company.product_id, id=customer_id, created_at=old, last_seen_at=seen_at))
    page = owner.get(PAGE).text
    addresses = re.findall(r'rel="next" href="([^"]+)"', page)
    assert not re.search(r"[?&;](page|offset)=", addresses[0])
    shown = [
        [customer_id for customer_id in ids if str(customer_id) in text]
        for text in (page, owner.get(unescape(addresses[0])).text)
    ]
    assert shown == [ids[:50], [ids[50]]]


def test_an_empty_list_says_how_customers_appear(owner: FlaskClient) -> None:
    assert "No customer in these days" in owner.get(PAGE).text


def test_a_customer_of_another_product_is_not_found(app: Flask, owner: FlaskClient, context_api: ContextApi) -> None:
    with transaction():
        other_company = create_company()
        sibling = products.create_product(context_api.company.workspace_id, "Sibling product")
        environment = products.create_environment(sibling.id, "production")
        key = products.create_key(environment.id, KeyKind.COMPANY).text
    sibling_company = Company(context_api.company.workspace_id, sibling.id, environment.id, "", key)
    for company in (other_company, sibling_company):
        other_api = ContextApi(app.test_client(), company)
        other_api.answer(other_api.ask(userRef="u1").json, item(value="design_led"))
    context_api.answer(context_api.ask(userRef="u1").json, item())
    path = find(owner, user_ref="u1")
    with transaction():
        foreign_ids = list(session().scalars(select(Customer.id).where(Customer.id != path.rpartition("/")[2])))
    assert len(foreign_ids) == 2
    assert "design_led" not in owner.get(path).text
    form = {"csrf_token": re.findall(r'name="csrf_token" value="([^"]+)"', owner.get(PAGE).text)[0]}
    for foreign_id in foreign_ids:
        assert str(foreign_id) not in owner.get(PAGE).text
        assert owner.get(f"{PAGE}/{foreign_id}").status_code == 404
        for step in STEPS:
            assert owner.get(f"{PAGE}/{foreign_id}/{step}").status_code == 404
            assert owner.post(f"{PAGE}/{foreign_id}/{step}", data=form).status_code == 404
    assert ContextApi(app.test_client(), sibling_company).context_values(userRef="u1") == {}


def test_a_member_reads_and_changes_nothing(app: Flask, owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    with transaction():
        user = create_user(context_api.company.workspace_id, "member@example.com", "member")
    member = app.test_client()
    member.post("/api/session", json={"email": "member@example.com", "password": user.password})
    for address in (PAGE, path):
        page = member.get(address)
        assert page.status_code == 200
        assert page.text.count('method="post"') == 1
        assert "Sign out" in page.text
    assert not re.search("/(export|erase|opt-out)", member.get(path).text)
    assert send(member, f"{PAGE}/search", user_ref=REFERENCES["userRef"]).status_code == 403
    for step in STEPS:
        assert member.get(f"{path}/{step}").status_code == 403
        assert send(member, f"{path}/{step}").status_code == 403
    assert context_api.context_values(userRef=REFERENCES["userRef"])


def test_what_a_company_writes_is_escaped(owner: FlaskClient, context_api: ContextApi) -> None:
    hostile = "<script>alert(1)</script>"
    context_api.put_field("trip.pace", label=hostile)
    context_api.answer(context_api.ask(userRef="u1").json, item("trip.pace", "slow"))
    page = owner.get(find(owner, user_ref="u1")).text
    assert hostile not in page
    assert hostile in unescape(page)


def test_pages_ask_no_more_for_more_rows(owner: FlaskClient, context_api: ContextApi) -> None:
    run_consumer(context_api)
    path = find(owner, user_ref=REFERENCES["userRef"])
    paths = (PAGE, path, f"{path}/erase", "/questions")
    counts = [count_statements(owner, path) for path in paths]
    assert max(counts) <= 14
    for number in range(3):
        context_api.answer(context_api.ask(userRef=REFERENCES["userRef"]).json, item(remember=False))
        context_api.retrieve(**REFERENCES)
        context_api.ask(userRef=f"u{number}")
        context_api.put_field(f"trip.pace_{number}", enabled=False)
    assert [count_statements(owner, path) for path in paths] == counts
