"""A real Chromium, and a page in the words of its tests."""

import shutil
from collections.abc import Iterator

import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

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
        # A page may be replaced by the next one while it is looked at.
        waiting = WebDriverWait(self.driver, PATIENCE_S, ignored_exceptions=[StaleElementReferenceException])
        waiting.until(lambda _: any(text in shown for shown in self.texts(selector)))

    def wait_for_focus(self, name: str) -> WebElement:
        """Wait until the browser has put the focus where the page asks for it, which it does after loading."""
        waiting = WebDriverWait(self.driver, PATIENCE_S, ignored_exceptions=[StaleElementReferenceException])
        waiting.until(lambda _: self.driver.switch_to.active_element.get_attribute("id") == name)
        return self.driver.switch_to.active_element

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
