"""Texts of companies and agents stay texts on every page, in a real Chromium."""

import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
import requests
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.conftest import Page, SampleWorkspace, seed_sample_workspace
from tests.browser.crawler import addresses
from tests.browser.hostile_texts import PAYLOADS, ask_for_context, hostile_names, hostile_text, list_pages, make_hostile
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser

NOTE = PAYLOADS[0]
PATHS = ("/feedback?q=", "/interactions?operation=", "/operations/operation?name=", "/sessions?ref=", "/no-page/")
"""Addresses that show what they are asked for, or that it is not found."""

TEXTS = """
    const attributes = [...document.querySelectorAll("*")].flatMap((element) => [...element.attributes]);
    return [document.documentElement.textContent, ...attributes.map((attribute) => attribute.value)].join("\\n");
"""

SEND_NOTE = """
    const [note, send] = [arguments[0], window.fetch];
    const body = JSON.stringify({outcome: "failure", note});
    window.fetch = (url, options) => send(url, String(url).endsWith("/outcomes") ? {...options, body} : options);
"""


@pytest.fixture
def page(driver: Chrome, stack: Stack) -> Iterator[Page]:
    driver.get(stack.url + "/sign-in")
    driver.delete_all_cookies()
    yield Page(driver)
    driver.delete_all_cookies()


@pytest.fixture
def workspace(stack: Stack) -> SampleWorkspace:
    return seed_sample_workspace(stack, "hostile@example.com")


def assert_harmless(page: Page) -> None:
    """Check that no text became an element, ran or led anywhere."""
    address = page.driver.current_url
    assert not page.driver.execute_script("return window.isHacked"), address
    assert page.driver.find_elements(By.CSS_SELECTOR, "[onerror], [onload], [href^='javascript:']") == [], address
    entries = page.driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    origin = page.driver.execute_script("return location.origin")
    assert [entry for entry in entries if not entry.startswith((origin, "data:"))] == [], address


def read_exports(page: Page) -> list[str]:
    """Download what a page links to, and check that no browser takes it for a page; return the lines."""
    cookies = {cookie["name"]: cookie["value"] for cookie in page.driver.get_cookies()}
    lines = []
    for link in page.driver.find_elements(By.CSS_SELECTOR, "a[download][href*='.csv'], a[download][href*='.ndjson']"):
        response = requests.get(link.get_attribute("href") or "", cookies=cookies, timeout=20)
        assert response.status_code == 200
        assert response.headers["Content-Type"].partition(";")[0] in ("text/csv", "application/x-ndjson")
        assert response.headers["Content-Disposition"].startswith("attachment")
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        lines += response.text.splitlines()
    return lines


def test_no_text_of_agents_and_companies_runs_on_any_page(page: Page, stack: Stack, workspace: SampleWorkspace) -> None:
    page.sign_in(stack.url, workspace.email, workspace.password)
    ask_for_context(stack, workspace.id)
    make_hostile(stack, workspace.id)
    unseen, exported, visited = hostile_names(), 0, 0
    for _ in addresses(page, stack.url, *list_pages(stack, workspace.id)):
        assert_harmless(page)
        texts = page.driver.execute_script(TEXTS)
        unseen -= {name for name in unseen if hostile_text(name) in texts}
        lines = read_exports(page)
        exported += len(lines)
        # A spreadsheet would take such a cell for a formula.
        assert [line for line in lines if re.search(r'(^|,)"?[=+@]', line) and not line.startswith("{")] == []
        visited += 1
    assert unseen == set()
    assert visited > 25
    assert exported > 1000
    for path in PATHS:
        for payload in PAYLOADS:
            page.driver.get(stack.url + path + quote(payload, safe=""))
            assert_harmless(page)


def test_no_note_of_an_agent_runs_in_the_playground(page: Page, demo: Stack) -> None:
    page.driver.get(demo.url + "/playground")
    # The agent of the playground sends this note in place of its own.
    page.driver.execute_script(SEND_NOTE, NOTE)
    page.press("Run the whole loop")
    page.wait_for("#review-status", "The interaction is confirmed.")
    assert NOTE in page.texts("#stored blockquote")
    assert_harmless(page)
