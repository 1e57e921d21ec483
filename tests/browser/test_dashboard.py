"""What a company does in the dashboard, in a real Chromium: from its first key to a triaged review, and its team."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.conftest import Page, SampleWorkspace
from tests.browser.orders import running_orders
from tests.context_api import PERSONALIZATION
from tests.factories import Company, bearer, event
from tests.journeys.stack import Stack, wait_until

pytestmark = pytest.mark.browser

LATE = "The order was late, and its state was wrong."
RIGHT = "Every field matched what the documentation promised."
REFUSED_WITHIN_S = 5
REQUEST_COUNT = 8
"""Enough requests, each over its own connection, to reach every web process."""


@pytest.fixture
def page(driver: Chrome) -> Iterator[Page]:
    yield Page(driver)
    driver.delete_all_cookies()


@pytest.fixture
def company(stack: Stack) -> Company:
    return stack.create_company()


@pytest.fixture
def without_scripts(driver: Chrome) -> Iterator[None]:
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    yield
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def create_key(page: Page) -> str:
    """Create a product key, and return its text, which is shown once."""
    page.follow("Keys")
    page.wait_for("h1", "Keys")
    page.press("Create the key")
    page.wait_for("h1", "The new product key")
    (key,) = page.texts("#secret")
    page.follow("Done")
    page.wait_for("h1", "Keys")
    assert key not in page.driver.page_source
    return key


def use_product(key: str, url: str) -> None:
    """Let agents use the product twelve times, and say of ten of them how it went: two of these failed."""
    with running_orders(key, url) as product:
        for number in range(9):
            product.use(number, "failure" if number == 0 else "success", RIGHT)
        product.use(9)
        product.use(10)
        product.use(11, "failure", LATE)


def filter_feedback(page: Page, name: str, value: str, notes: list[str]) -> None:
    """Set a filter besides those that are set, and wait until these notes are listed."""
    field = f".filters [name={name}]"
    page.choose(field, value) if name == "triage" else page.write(field, value)
    page.press("Filter")
    page.wait_for_texts("a.note", notes)


def download(page: Page, name: str, folder: Path) -> list[dict[str, str]]:
    """Follow the link to an NDJSON export, and return its objects."""
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    page.follow(name)
    path = folder / "feedback.ndjson"
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"), 10)
    return [json.loads(line) for line in path.read_text().splitlines()]


def statuses(stack: Stack, key: str) -> set[int]:
    url = f"{stack.url}/api/v2/telemetry/batches"
    batch = {"events": [event()]}
    return {requests.post(url, json=batch, headers=bearer(key), timeout=10).status_code for _ in range(REQUEST_COUNT)}


def offered_answers(stack: Stack, company: Company) -> dict[str, list[str]]:
    """Ask for context as the company's backend does; return what the agent is offered, by the question's text."""
    body = {"interactionId": str(uuid.uuid4()), "operation": "/hotels", "surface": "http_json"}
    url, headers = f"{stack.url}/api/v2/enrichment/requests", bearer(company.company_key)
    details = {"purpose": PERSONALIZATION, "remember": False}
    response = requests.post(url, json={**body, **details}, headers=headers, timeout=10)
    assert response.status_code == 200, response.text
    return {entry["label"]: entry["allowedValues"] for entry in response.json()["submit"]["bodySchema"]["catalog"]}


def writing_forms(page: Page) -> list[str]:
    """Return the paths that the forms of the shown page write to, except those of one's own session."""
    script = "return [...document.querySelectorAll('form[method=post]')].map((form) => new URL(form.action).pathname)"
    paths: list[str] = page.driver.execute_script(script)
    return [path for path in paths if path not in ("/sign-out", "/workspace")]


def test_a_company_makes_a_key_and_works_on_what_agents_say(
    page: Page, stack: Stack, company: Company, tmp_path: Path
) -> None:
    page.sign_in(stack.url, company.email, company.password)
    page.wait_for(".set-up-steps", "Create a product key")
    key = create_key(page)
    use_product(key, stack.url)
    page.follow("Home")
    page.reload_until(".stat", "10 of 12 interactions reviewed")
    assert "80 %" in page.texts(".stat")[0]
    assert page.texts(".said-list .said-note")[0] == LATE

    page.follow("Feedback")
    page.wait_for_texts("a.note", [LATE, *[RIGHT] * 9])
    page.follow(LATE)
    page.wait_for("h1", "Review of /orders/:id")
    page.choose("#state", "investigating")
    page.write("#comment", "I ask the warehouse.")
    page.press("Save")
    page.wait_for(".comment", "I ask the warehouse.")
    page.follow("Feedback")
    page.wait_for(".badge", "investigating")
    filter_feedback(page, "triage", "investigating", [LATE])
    filter_feedback(page, "q", "warehouse", [])
    page.follow("Clear")
    filter_feedback(page, "q", "late order", [LATE])
    (item,) = download(page, "NDJSON", tmp_path)
    assert (item["note"], item["triage"], item["operation"]) == (LATE, "investigating", "/orders/:id")
    assert item["interactionId"] in page.content(".detail")

    assert statuses(stack, key) == {202}
    page.follow("Keys")
    page.driver.find_element(By.CSS_SELECTOR, f"a[href*='{key.split('_')[2]}/revoke']").click()
    page.press("Revoke the key")
    page.wait_for("[role=status]", "The key is revoked")
    wait_until(lambda: statuses(stack, key) == {401}, REFUSED_WITHIN_S)


def test_an_edited_question_is_what_agents_are_asked(page: Page, stack: Stack, company: Company) -> None:
    page.sign_in(stack.url, company.email, company.password)
    page.follow("Questions")
    page.wait_for(".facts", "built-in questions")
    assert len(offered_answers(stack, company)) > 1
    page.follow("New question")
    for name, text in {"key": "trip.pace", "label": "Pace", "type": "preference", "allowed_values": "slow"}.items():
        page.write(f"#{name}", text)
    page.press("Save")
    page.wait_for("[role=status]", "The question is saved.")
    assert offered_answers(stack, company) == {"Pace": ["slow"]}
    page.follow("Pace")
    page.wait_for("h1", "trip.pace")
    page.write("#label", "Preferred pace")
    page.write("#allowed_values", "slow\nfast")
    # The preview follows what is typed.
    page.wait_for("#preview pre", "Preferred pace")
    assert offered_answers(stack, company) == {"Pace": ["slow"]}
    page.press("Save")
    page.wait_for("[role=status]", "The question is saved.")
    assert offered_answers(stack, company) == {"Preferred pace": ["slow", "fast"]}


def test_somebody_who_is_invited_joins_looks_and_switches_back(page: Page, stack: Stack, company: Company) -> None:
    guest = stack.create_company()
    page.sign_in(stack.url, company.email, company.password)
    page.follow("Team")
    page.write("#email", guest.email)
    page.press("Make the link")
    page.wait_for("h1", "The invitation of")
    (link,) = page.texts("#invitation")
    page.driver.delete_all_cookies()
    page.driver.get(link)
    page.follow("Sign in to accept")
    page.wait_for("h1", "Sign in")
    page.fill_sign_in(guest.email, guest.password)
    page.wait_for("h1", "Join Example company")
    page.press("Join the workspace")
    page.wait_for(".who", "member")
    sections = page.texts(".side a[href*='environment=']")
    assert len(sections) == 14
    for section in sections:
        page.follow(section)
        page.wait_for("[aria-current=page]", section)
        assert str(company.environment_id) in page.driver.current_url
        assert writing_forms(page) == [], section
    page.driver.get(link)
    assert "Join" not in page.texts("h1")[0]
    page.driver.get(stack.url)
    page.choose("[name=workspace]", str(guest.workspace_id))
    page.press("Switch")
    page.wait_for(".who", "owner")
    page.follow("Keys")
    page.wait_for("h1", "Keys")
    assert str(guest.environment_id) in page.driver.current_url
    assert writing_forms(page) == ["/keys"]


@pytest.mark.usefixtures("without_scripts")
def test_home_feedback_and_keys_work_without_scripts(page: Page, sample_workspace: SampleWorkspace) -> None:
    page.sign_in(sample_workspace.url, sample_workspace.email, sample_workspace.password)
    assert "interactions reviewed" in page.texts(".stat")[0]
    # Instants are in UTC where no script writes them in the reader's zone.
    assert page.texts("time")[0].endswith("UTC")
    page.choose("[name=days]", "14")
    page.press("Show")
    page.wait_for("main", "The last 14 days.")
    page.follow("Feedback")
    page.choose("[name=outcome]", "failure")
    page.press("Filter")
    page.wait_for("a", "Clear")
    assert set(page.texts(".stream td:first-child .badge")) == {"failure"}
    page.driver.find_element(By.CSS_SELECTOR, "[name=item]").click()
    page.press("Set state")
    page.wait_for("[role=status]", "The state is set.")
    page.follow("Next page")
    page.wait_for(".list-foot", "First page")
    assert set(page.texts(".stream td:first-child .badge")) == {"failure"}
    page.driver.find_element(By.CSS_SELECTOR, "a.note").click()
    page.choose("#state", "wont_act")
    page.write("#comment", "Nobody needs this.")
    page.press("Save")
    page.wait_for(".comment", "Nobody needs this.")
    assert "won’t act" in page.texts(".badge")
    assert create_key(page).startswith("af_")
    page.follow("Set-up")
    page.wait_for("h1", "Set-up")
    # Buttons of scripts alone, such as those that copy, are not shown.
    assert set(page.texts("main [hidden]")) == {""}
