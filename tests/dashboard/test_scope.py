"""The scope of pages: environment and days stay while a reader moves around."""

import re
import uuid
from collections.abc import Iterator
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.core.database import transaction
from app.dashboard.navigation import NAVIGATION
from app.dashboard.queries import list_products
from app.dashboard.scope import DEFAULT_DAYS
from app.products import service as products
from app.products.models import Environment
from tests.factories import SESSION_COOKIE, Company, create_company, sign_in

PATHS = ("/", "/feedback", "/interactions", "/keys")


def navigation_paths(text: str) -> list[str]:
    side = text.partition('<nav class="side"')[2].partition('<p class="group">Reference</p>')[0]
    return [unescape(path) for path in re.findall(r'href="([^"]+)"', side)]


@pytest.fixture
def staging(client: FlaskClient, company: Company) -> uuid.UUID:
    sign_in(client, company)
    with transaction():
        return products.create_environment(company.product_id, "staging").id


def test_every_page_links_to_all_others_in_the_same_scope(client: FlaskClient, staging: uuid.UUID) -> None:
    paths = navigation_paths(client.get(f"/interactions?environment={staging}&days=30").text)
    assert len(paths) == sum(len(links) for _, links in NAVIGATION) == 14
    for path in paths:
        assert f"environment={staging}" in path
        assert "days=30" in path
        page = client.get(path)
        assert page.status_code == 200, path
        assert navigation_paths(page.text) == paths


def test_the_oldest_environment_is_shown_first(client: FlaskClient, company: Company, staging: uuid.UUID) -> None:
    text = client.get("/interactions").text
    assert f'<option value="{company.environment_id}" selected>' in text
    assert f'<option value="{staging}">' in text


@pytest.mark.parametrize("path", PATHS)
def test_an_environment_of_another_workspace_is_not_found(client: FlaskClient, company: Company, path: str) -> None:
    with transaction():
        other_company = create_company()
    sign_in(client, company)
    for environment in (other_company.environment_id, uuid.uuid4(), "nonsense"):
        answer = client.get(f"{path}?environment={environment}")
        assert answer.status_code == 404
        assert str(other_company.product_id) not in answer.text


@pytest.mark.parametrize("days", ["0", "15", "-1", "x", "1e9", "٧"])
def test_days_that_cannot_be_chosen_are_the_default_ones(client: FlaskClient, company: Company, days: str) -> None:
    sign_in(client, company)
    answer = client.get("/interactions", query_string={"days": days})
    assert answer.status_code == 200
    assert f'<option value="{DEFAULT_DAYS}" selected>' in answer.text


@pytest.mark.parametrize("path", ["/nothing-here", "/interactions/nothing", "/interactions", "/components/nothing"])
def test_an_error_page_keeps_the_frame_of_who_is_signed_in(client: FlaskClient, staging: uuid.UUID, path: str) -> None:
    headers = {"Accept": "text/html"}
    for environment in (staging, uuid.uuid4()):
        answer = client.get(f"{path}?environment={environment}&days=30&after=x", headers=headers)
        assert answer.status_code in (404, 422)
        paths = navigation_paths(answer.text)
        assert len(paths) == 14
        assert ("days=30" in paths[0], "Sign out" in answer.text) == (True, True)
        assert (str(staging) in paths[0]) == (environment == staging)


def test_an_unknown_address_shows_nothing_to_a_visitor(client: FlaskClient) -> None:
    client.set_cookie(SESSION_COOKIE, "A" * 43)
    answer = client.get("/nothing-here", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert navigation_paths(answer.text) == []


@pytest.mark.parametrize(
    ("path", "shown_path"),
    [("/feedback", "/feedback"), ("/feedback/findings", "/feedback/findings"), ("/account", "/")],
)
def test_another_environment_is_shown_by_the_same_tab(
    client: FlaskClient, company: Company, path: str, shown_path: str
) -> None:
    sign_in(client, company)
    (action,) = re.findall(r'<form class="scope" method="get" action="([^"]+)">', client.get(path).text)
    assert action == shown_path


def test_every_page_marks_its_section(client: FlaskClient, company: Company) -> None:
    sign_in(client, company)
    for path, label in (("/", "Home"), ("/feedback", "Feedback"), ("/ai-traffic", "AI traffic")):
        side = client.get(path).text.partition('<nav class="side"')[2].partition("</nav>")[0]
        (current,) = re.findall(r'aria-current="page">(?:<svg.*?</svg>)?\s*([^<]+)<', side, re.DOTALL)
        assert current.strip() == label


def test_each_product_has_its_own_environments_of_one_pass_over_all(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Environments(list[Environment]):
        passes = 0

        def __iter__(self) -> Iterator[Environment]:
            Environments.passes += 1
            return super().__iter__()

    with transaction():
        second = products.create_product(company.workspace_id, "Second")
        ids = [products.create_environment(second.id, name).id for name in ("one", "two")]
        environments = Environments(products.list_environments(workspace_id=company.workspace_id))
        monkeypatch.setattr(products, "list_environments", lambda **_: environments)
        entries = list_products(company.workspace_id)
        found = {entry.product.id: [environment.id for environment in entry.environments] for entry in entries}
    assert found == {company.product_id: [company.environment_id], second.id: ids}
    assert Environments.passes == 1
