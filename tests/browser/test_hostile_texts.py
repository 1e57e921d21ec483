"""Texts of companies and agents stay texts on every page, in a real Chromium."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.conftest import Page
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser

MARK = "hostile"
SCRIPT = "window.isHacked = true"
TEXTS = (
    f"{MARK}</title></textarea><script>{SCRIPT}</script>",
    f"{MARK}\"'><img src=x onerror='{SCRIPT}'><svg onload=\"{SCRIPT}\">",
    f'{MARK}{{{{ 7*7 }}}}${{7*7}}<a href="javascript:{SCRIPT}">',
)
USER_AGENT = TEXTS[1].replace(MARK, "Mozilla/5.0 ")
MAX_PAGES = 40

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
    driver.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": ""})
    driver.delete_all_cookies()


@pytest.fixture
def credentials(stack: Stack) -> dict[str, str]:
    """Create a workspace whose names are all hostile, and return how its owner signs in."""
    email = "hostile@example.com"
    workspace = stack.flask("workspace", "create", "--email", email, "--name", TEXTS[0])
    for text in TEXTS:
        product = stack.flask("product", "create", "--workspace", workspace["workspaceId"], "--name", text)
        stack.flask("environment", "create", "--product", product["productId"], "--name", text)
    return {"email": email, "password": workspace["password"]}


def visit_all(page: Page, url: str) -> list[str]:
    """Open every page that links of the origin lead to; return their addresses."""
    waiting, visited = [url + "/"], []
    while waiting and len(visited) < MAX_PAGES:
        page.driver.get(waiting.pop(0))
        visited.append(page.driver.current_url)
        assert_harmless(page)
        links = [link.get_attribute("href") or "" for link in page.driver.find_elements(By.TAG_NAME, "a")]
        waiting += sorted({link.partition("#")[0] for link in links if link.startswith(url)} - {*visited, *waiting})
    return visited


def assert_harmless(page: Page) -> None:
    """Check that no text became an element, ran or led anywhere."""
    address = page.driver.current_url
    assert not page.driver.execute_script("return window.isHacked"), address
    assert page.driver.find_elements(By.CSS_SELECTOR, "[onerror], [onload], [href^='javascript:']") == [], address
    entries = page.driver.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    origin = page.driver.execute_script("return location.origin")
    assert [entry for entry in entries if not entry.startswith((origin, "data:"))] == [], address


def test_no_text_of_a_company_runs_on_any_page(page: Page, stack: Stack, credentials: dict[str, str]) -> None:
    page.driver.execute_cdp_cmd("Network.setUserAgentOverride", {"userAgent": USER_AGENT})
    page.driver.get(stack.url + "/sign-in")
    page.write("#email", credentials["email"])
    page.write("#password", credentials["password"])
    page.press("Sign in")
    page.wait_for("body", MARK)
    for text in TEXTS:
        assert text in page.content("body")
    visited = visit_all(page, stack.url)
    paths = {address.removeprefix(stack.url).partition("?")[0] for address in visited}
    assert {"/", "/account", "/account/second-factor", "/docs/"} <= paths


def test_no_note_of_an_agent_runs_in_the_playground(page: Page, demo: Stack) -> None:
    page.driver.get(demo.url + "/playground")
    # The agent of the playground sends this note in place of its own.
    page.driver.execute_script(SEND_NOTE, TEXTS[1])
    page.press("Run the whole loop")
    page.wait_for("#review-status", "The interaction is confirmed.")
    assert TEXTS[1] in page.texts("#stored blockquote")
    assert_harmless(page)
