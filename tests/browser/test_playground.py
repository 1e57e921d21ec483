"""The playground in a real Chromium."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from tests.browser.conftest import Page
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser


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
    driver.get(demo.url + "/playground")
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


def test_without_a_demo_company_the_page_says_what_it_needs(driver: Chrome, stack: Stack) -> None:
    driver.get(stack.url + "/playground")
    assert Page(driver).texts("h1") == ["That did not work"]
    assert "bin/dev" in Page(driver).texts("main p")[0]
    assert "API" in Page(driver).texts("nav a")
