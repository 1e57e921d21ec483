"""The playground in a real Chromium."""

import json
import subprocess

import pytest
from selenium.webdriver import Chrome

from tests.browser.conftest import Page
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser


@pytest.fixture
def page(driver: Chrome, demo: Stack) -> Page:
    driver.get(demo.url + "/playground")
    return Page(driver)


def test_the_whole_loop_runs_and_ends_in_a_confirmed_interaction(page: Page) -> None:
    page.press("Run the whole loop")
    page.wait_for("#review-status", "The interaction is confirmed.")
    record = json.loads(page.content("#stored details pre"))
    assert (record["classification"], record["confirmationMethod"]) == ("confirmed", "review")
    assert (record["surface"], record["operation"], record["statusCode"]) == ("http_json", "/orders/:id", 200)
    assert record["review"]["outcome"] == "success"
    assert "_agentFeedback" in page.texts("#product pre")[1]


def test_the_stored_review_is_a_card_above_the_folded_json(page: Page) -> None:
    page.press("Run the whole loop")
    page.wait_for("#review-status", "The interaction is confirmed.")
    assert page.texts("#stored .badge") == ["success", "confirmed"]
    assert page.texts("#stored blockquote") == ["The order's state and its three items matched what was asked for."]
    assert page.texts("#stored pre") == [""]
    page.driver.find_element("css selector", "#stored summary").click()
    assert '"classification": "confirmed"' in page.texts("#stored pre")[0]


def test_the_shoes_are_ranked_by_what_the_agent_answers(page: Page) -> None:
    page.press("Run the shoe shop")
    page.wait_for("#context-status", "The shoes are ranked by sustainability.")
    assert page.texts("#shop .shoes strong")[0] == "Harbour Runner"
    assert page.texts("#ranking .shoes strong")[0] == "Meadow Loop"
    context = json.loads(page.content("#ranking details:last-child pre"))
    assert [(item["key"], item["value"]) for item in context["items"]] == [("shopping.priority", "sustainability")]


def test_a_copied_command_performs_its_step_again(page: Page) -> None:
    page.press("Run the whole loop")
    page.wait_for("#review-status", "The interaction is confirmed.")
    for step, status in (("telemetry", 202), ("review", 200)):
        command = page.read_copy(step)
        process = subprocess.run(
            ["bash", "-c", f"{command} -s -o /dev/null -w '%{{http_code}}'"],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        assert process.stdout == str(status)


def test_the_playground_fits_a_phone(driver: Chrome, page: Page) -> None:
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        page.press("Run the whole loop")
        page.wait_for("#review-status", "The interaction is confirmed.")
        page.press("Run the shoe shop")
        page.wait_for("#context-status", "The shoes are ranked")
        assert driver.execute_script("return document.documentElement.scrollWidth") == 360
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_key_is_never_shown_whole(page: Page, demo: Stack) -> None:
    page.press("Ask the product")
    page.wait_for("#product h4", "Answer 200")
    page.press("Send the telemetry")
    page.wait_for("#telemetry h4", "Answer 202")
    page.press("Run the shoe shop")
    page.wait_for("#context-status", "The shoes are ranked")
    for key in (demo.company.product_key, demo.company.company_key):
        assert key not in page.driver.page_source


def test_a_rejected_review_shows_what_is_wrong(page: Page) -> None:
    page.press("Ask the product")
    page.wait_for("#product h4", "Answer 200")
    page.write("#note", "It sent Bearer private-token abc.")
    page.press("Send the review")
    page.wait_for("#review h4", "Answer 400")
    assert "secret_detected" in page.texts("#review pre")[1]


def test_without_a_demo_company_the_page_says_what_it_needs(driver: Chrome, stack: Stack) -> None:
    driver.get(stack.url + "/playground")
    assert Page(driver).texts("h1") == ["Page not found"]
    assert "bin/dev" in Page(driver).texts("main p")[0]
    assert "API" in Page(driver).texts("nav a")
