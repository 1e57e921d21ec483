"""One's own account, and the page of the API description, in a real Chromium."""

import time
from collections.abc import Iterator

import pyotp
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.conftest import Page
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser

EMAIL = "browser@example.com"
NEW_PASSWORD = "correct horse battery"
PHONE = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}


@pytest.fixture
def page(driver: Chrome, stack: Stack) -> Iterator[Page]:
    driver.get(stack.url + "/sign-in")
    driver.delete_all_cookies()
    yield Page(driver)
    driver.delete_all_cookies()


@pytest.fixture
def password(stack: Stack) -> Iterator[str]:
    """Create a user whom no other test signs in as, and return the password."""
    user = stack.flask("user", "create", "--workspace", str(stack.company.workspace_id), "--email", EMAIL)
    yield user["password"]
    stack.flask("user", "remove", EMAIL)


def open_account(page: Page, stack: Stack, password: str) -> None:
    page.driver.get(stack.url + "/account")
    page.write("#email", EMAIL)
    page.write("#password", password)
    page.press("Sign in")


def fits(page: Page) -> bool:
    """Tell whether the page is not wider than a phone."""
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    try:
        return bool(page.driver.execute_script("return document.documentElement.scrollWidth <= 390"))
    finally:
        page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_somebody_changes_the_password_and_sets_a_second_factor_up(page: Page, stack: Stack, password: str) -> None:
    open_account(page, stack, password)
    page.wait_for("h1", "Your account")
    assert page.texts(".badge") == ["this one"]
    assert fits(page)
    page.write("#old_password", password)
    page.write("#new_password", NEW_PASSWORD)
    page.write("#repeated_password", NEW_PASSWORD)
    page.press("Change the password")
    page.wait_for("[role=status]", "Your password is changed")
    page.driver.find_element(By.LINK_TEXT, "Set it up").click()
    page.wait_for("h1", "Two-factor authentication")
    page.write("#password", NEW_PASSWORD)
    page.press("Set it up")
    page.wait_for("h2", "1. Scan this")
    assert page.driver.find_element(By.CSS_SELECTOR, ".qr svg").size["width"] > 200
    assert fits(page)
    totp = pyotp.TOTP(page.texts(".secret")[0])
    page.write("#code", totp.now())
    page.press("Switch it on")
    page.wait_for("h2", "Recovery codes")
    recovery_codes = page.texts(".codes code")
    assert len(recovery_codes) == 10
    assert fits(page)
    page.press("Sign out")
    page.wait_for("h1", "Sign in")
    open_account(page, stack, NEW_PASSWORD)
    page.wait_for("h1", "Your code")
    # The code of the next 30 seconds, as a code is accepted once; it is valid for a minute.
    page.wait_for_focus("code").send_keys(totp.at(int(time.time()) + 30))
    page.press("Sign in")
    page.wait_for("h1", "Your account")
    page.press("Sign out")
    page.wait_for("h1", "Sign in")
    open_account(page, stack, NEW_PASSWORD)
    page.wait_for("h1", "Your code")
    page.write("#code", recovery_codes[0])
    page.press("Sign in")
    page.wait_for("h1", "Your account")


def test_the_page_of_the_description_works_under_its_policy(driver: Chrome, stack: Stack) -> None:
    driver.get(stack.url + "/docs")
    page = Page(driver)
    page.wait_for("#operations-Outcomes-submitOutcome .opblock-summary-path", "outcomes")
    driver.find_element(By.CSS_SELECTOR, ".opblock-summary-control").click()
    page.wait_for(".try-out__btn", "Try it out")
    page.press("Try it out")
    page.wait_for(".execute", "Execute")
    page.press("Execute")
    page.wait_for(".response-col_status", "401")
    script = "return performance.getEntriesByType('resource').map((entry) => new URL(entry.name).origin)"
    assert set(driver.execute_script(script)) == {stack.url}
