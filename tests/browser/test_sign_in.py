"""Signing in and out in a real Chromium."""

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.conftest import Page
from tests.factories import cookie_name
from tests.journeys.stack import Stack

pytestmark = pytest.mark.browser


@pytest.fixture
def page(driver: Chrome, stack: Stack) -> Iterator[Page]:
    driver.get(stack.url + "/sign-in")
    driver.delete_all_cookies()
    driver.get(stack.url)
    yield Page(driver)
    driver.delete_all_cookies()


def fill_form(page: Page, stack: Stack, password: str | None = None) -> None:
    page.write("#email", stack.company.email)
    page.write("#password", stack.company.password if password is None else password)


def test_somebody_signs_in_looks_and_signs_out(page: Page, stack: Stack) -> None:
    assert page.driver.current_url == stack.url + "/sign-in"
    fill_form(page, stack)
    page.press("Sign in")
    page.wait_for("h1", "Home")
    assert page.driver.current_url == stack.url + "/"
    assert str(stack.company.environment_id) in page.driver.page_source
    cookie = page.driver.get_cookie(cookie_name("session", stack.url))
    assert cookie
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Lax")
    page.press("Sign out")
    page.wait_for("h1", "Sign in")
    page.driver.get(stack.url)
    page.wait_for("h1", "Sign in")
    page.driver.back()
    assert str(stack.company.environment_id) not in page.driver.page_source


def test_the_keyboard_alone_is_enough(page: Page, stack: Stack) -> None:
    page.wait_for_focus("email").send_keys(stack.company.email, Keys.TAB)
    page.wait_for_focus("password").send_keys(stack.company.password, Keys.ENTER)
    page.wait_for("h1", "Home")


def test_a_wrong_password_is_announced(page: Page, stack: Stack) -> None:
    fill_form(page, stack, "not the password")
    page.press("Sign in")
    page.wait_for("[role=alert]", "No user has this e-mail address")
    page.wait_for_focus("password")
    fill_form(page, stack)
    page.press("Sign in")
    page.wait_for("h1", "Home")


def test_a_link_leads_back_to_where_it_pointed(page: Page, stack: Stack) -> None:
    page.driver.get(stack.url + "/?from=a%20link")
    fill_form(page, stack)
    page.press("Sign in")
    page.wait_for("h1", "Home")
    assert page.driver.current_url == stack.url + "/?from=a%20link"


def test_a_form_of_another_tab_that_is_stale_is_explained(page: Page, stack: Stack) -> None:
    page.driver.delete_all_cookies()
    fill_form(page, stack)
    page.press("Sign in")
    page.wait_for("[role=alert]", "not valid any more")
    page.driver.find_element("link text", "To the start page").click()
    page.wait_for("h1", "Sign in")
