"""The playground in a real Chromium."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--window-size=1100,900",
)
PATIENCE_S = 15


class Page:
    """One open page, in the words of its tests."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def press(self, name: str) -> None:
        self.driver.find_element(By.XPATH, f"//button[normalize-space()='{name}']").click()

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    def wait_for(self, selector: str, text: str) -> None:
        WebDriverWait(self.driver, PATIENCE_S).until(lambda _: any(text in shown for shown in self.texts(selector)))

    def write(self, selector: str, text: str) -> None:
        field = self.driver.find_element(By.CSS_SELECTOR, selector)
        field.clear()
        field.send_keys(text)


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("there is no Chromium with its driver on this machine")
    options = ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    opened = Chrome(options, ChromeService(chromedriver))
    yield opened
    opened.quit()


@pytest.fixture
def demo(stack: Stack) -> Iterator[Stack]:
    """Make the stack's company the demo company."""
    path = Path(stack.environ["AGENT_FEEDBACK_DATA_DIR"]) / "credentials.json"
    keys = {"environmentId": str(stack.company.environment_id), "productKey": stack.company.product_key}
    path.write_text(json.dumps(keys))
    yield stack
    path.unlink()


@pytest.fixture
def page(driver: Chrome, demo: Stack) -> Page:
    driver.get(demo.url)
    return Page(driver)


def test_the_whole_loop_runs_and_ends_in_a_confirmed_interaction(page: Page) -> None:
    page.press("Run the whole loop")
    page.wait_for("[role=status]", "The interaction is confirmed.")
    record = json.loads(page.texts("#stored pre")[0])
    assert (record["classification"], record["confirmationMethod"]) == ("confirmed", "review")
    assert (record["surface"], record["operation"], record["statusCode"]) == ("http_json", "/orders/:id", 200)
    assert record["review"]["outcome"] == "success"
    assert "_agentFeedback" in page.texts("#product pre")[1]


def test_a_key_is_never_shown_whole(page: Page, demo: Stack) -> None:
    page.press("Ask the product")
    page.wait_for("#product h3", "Answer 200")
    page.press("Send the telemetry")
    page.wait_for("#telemetry h3", "Answer 202")
    assert demo.company.product_key not in page.driver.page_source


def test_a_refused_review_shows_what_is_wrong(page: Page) -> None:
    page.press("Ask the product")
    page.wait_for("#product h3", "Answer 200")
    page.write("#note", "It sent Bearer private-token abc.")
    page.press("Send the review")
    page.wait_for("#review h3", "Answer 400")
    assert "secret_detected" in page.texts("#review pre")[1]


def test_without_a_demo_company_the_page_says_where_to_go(driver: Chrome, stack: Stack) -> None:
    driver.get(stack.url)
    assert Page(driver).texts("h1") == ["Did it work for the agents?"]
    assert "API" in Page(driver).texts("nav a")
