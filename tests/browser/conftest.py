"""A headless Chromium, and what tests do with a page."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from tests.journeys.stack import Stack

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
TIMEOUT_S = 15


class Page:
    """The page that the browser shows."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def press(self, name: str) -> None:
        self.driver.find_element(By.XPATH, f"//button[normalize-space()='{name}']").click()

    def texts(self, selector: str) -> list[str]:
        return [element.text for element in self.driver.find_elements(By.CSS_SELECTOR, selector)]

    def content(self, selector: str) -> str:
        """Return the text of an element that may be folded away."""
        text: str = self.driver.find_element(By.CSS_SELECTOR, selector).get_property("textContent")  # type: ignore[assignment]  # a union for all properties
        return text

    def read_copy(self, step: str) -> str:
        """Press a step's "Copy as curl", and return what the page writes to the clipboard."""
        self.driver.execute_script(
            "navigator.clipboard.writeText = async (text) => { window.copied = text; }; window.copied = null;"
        )
        self.driver.find_element(By.CSS_SELECTOR, f"[data-curl={step}]").click()
        WebDriverWait(self.driver, TIMEOUT_S).until(lambda driver: driver.execute_script("return window.copied"))
        text: str = self.driver.execute_script("return window.copied")
        return text

    def wait_for(self, selector: str, text: str) -> None:
        self._wait(lambda: any(text in content for content in self.texts(selector)))

    def wait_for_texts(self, selector: str, texts: list[str]) -> None:
        """Wait until these are the texts of all elements."""
        self._wait(lambda: self.texts(selector) == texts)

    def reload_until(self, selector: str, text: str) -> None:
        """Open the page anew until it has a text, which a job of the service brings about."""

        def has_text() -> bool:
            self.driver.refresh()
            return any(text in content for content in self.texts(selector))

        self._wait(has_text)

    def _wait(self, is_true: Callable[[], bool]) -> None:
        # The elements, or the whole page, may be replaced between finding and reading them; Chromium's driver reports
        # the second as an unknown error.
        waiting = WebDriverWait(self.driver, TIMEOUT_S, ignored_exceptions=[WebDriverException])
        waiting.until(lambda _: is_true())

    def wait_for_focus(self, name: str) -> WebElement:
        """Wait until the element with this id has the focus, which `autofocus` sets after loading; return it."""
        wait = WebDriverWait(self.driver, TIMEOUT_S, ignored_exceptions=[StaleElementReferenceException])
        wait.until(lambda _: self.driver.switch_to.active_element.get_attribute("id") == name)
        return self.driver.switch_to.active_element

    def follow(self, name: str) -> None:
        """Click the link with this text."""
        self.driver.find_element(By.LINK_TEXT, name).click()

    def choose(self, selector: str, value: str) -> None:
        """Choose the option with this value."""
        self.driver.find_element(By.CSS_SELECTOR, f"{selector} option[value='{value}']").click()

    def sign_in(self, url: str, email: str, password: str) -> None:
        """Sign in from the beginning, and wait for Home."""
        self.driver.get(url + "/sign-in")
        self.driver.delete_all_cookies()
        self.driver.get(url + "/sign-in")
        self.fill_sign_in(email, password)
        self.wait_for("h1", "Home")

    def fill_sign_in(self, email: str, password: str) -> None:
        """Send the form of the sign-in page that is shown."""
        self.write("#email", email)
        self.write("#password", password)
        self.press("Sign in")

    def write(self, selector: str, text: str) -> None:
        field = self.driver.find_element(By.CSS_SELECTOR, selector)
        field.clear()
        field.send_keys(text)


def chrome_options() -> ChromeOptions:
    """Return the options of a headless Chromium that keeps what pages log."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return options


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    chromium, chromedriver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not chromedriver:
        pytest.skip("there is no Chromium with its driver on this machine")
    driver = Chrome(chrome_options(), ChromeService(chromedriver))
    yield driver
    driver.quit()


@pytest.fixture
def demo(stack: Stack) -> Iterator[Stack]:
    """Make the company of the stack the demo company."""
    path = Path(stack.environ["AGENT_FEEDBACK_DATA_DIR"]) / "credentials.json"
    company = stack.company
    credentials = {
        "environmentId": str(company.environment_id),
        "productKey": company.product_key,
        "companyKey": company.company_key,
    }
    path.write_text(json.dumps(credentials))
    yield stack
    path.unlink()


@dataclass(frozen=True)
class SampleWorkspace:
    """A workspace with a fortnight of sample data, and how its owner signs in."""

    url: str
    id: str
    email: str
    password: str


def seed_sample_workspace(stack: Stack, email: str = "sample@example.com") -> SampleWorkspace:
    """Create a workspace and fill it."""
    workspace = stack.flask("workspace", "create", "--email", email, "--name", "Northwind")
    stack.flask("demo", "seed", "--workspace", workspace["workspaceId"])
    return SampleWorkspace(stack.url, workspace["workspaceId"], email, workspace["password"])


@pytest.fixture(scope="session")
def sample_workspace(stack: Stack) -> SampleWorkspace:
    return seed_sample_workspace(stack)
