"""Every page in a real Chromium: accessible in light and dark, without console errors, from one origin, on a phone."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest
from axe_core_python.base import AXE_SCRIPT
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By

from tests.browser.conftest import Page, SampleWorkspace
from tests.browser.crawler import addresses

pytestmark = pytest.mark.browser

SERIOUS = ("serious", "critical")
PHONE_WIDTH = 360
WIDTHS = (PHONE_WIDTH, 768, 1024)
"""Of a phone, and of windows in which not every table has the room that it would like."""
MAX_NAME_WIDTH = 400
WIDEST_NAME = """
const named = "tbody tr:first-child :is(th, td):not(.ids th, .number, :has(time, .badge, svg))";
const cells = [...document.querySelectorAll(named)];
const names = cells.map((cell) => cell.querySelector("code, a") || cell);
for (const name of names) name.textContent = "/" + "x".repeat(159);
return Math.max(...cells.map((cell) => cell.offsetWidth));
"""
CUT_LISTS = """
for (const part of document.querySelectorAll("main details")) part.open = true;
const lists = [...document.querySelectorAll(".wide")];
return lists.filter((list) => list.scrollWidth > list.clientWidth).map((list) => list.ariaLabel || list.textContent);
"""
OVERFLOWING_CELLS = """
const cells = [...document.querySelectorAll("th, td")];
return cells.filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent.trim());
"""
# What passes is not described, which would take a tenth of the time.
RUN_AXE = """
const [rules, done] = arguments;
const options = rules.length ? {runOnly: rules} : {};
axe.run({...options, resultTypes: ["violations"]}).then((results) => done(results.violations));
"""


@pytest.fixture
def page(driver: Chrome, sample_workspace: SampleWorkspace) -> Iterator[Page]:
    """Sign in to a workspace with sample data."""
    page = Page(driver)
    page.sign_in(sample_workspace.url, sample_workspace.email, sample_workspace.password)
    yield page
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    driver.delete_all_cookies()


def violations(page: Page, *rules: str) -> list[str]:
    """Return what axe finds by these rules, by default by all, in a line each."""
    if not page.driver.execute_script("return window.axe !== undefined"):
        page.driver.execute_script(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.driver.execute_async_script(RUN_AXE, rules)
    return [
        f"{violation['id']}: {node['html'][:160]}"
        for violation in found
        if violation["impact"] in SERIOUS
        for node in violation["nodes"]
    ]


def foreign_requests(page: Page, origin: str) -> list[str]:
    entries: list[str] = page.driver.execute_script(
        "return performance.getEntriesByType('resource').map((entry) => entry.name)"
    )
    return [entry for entry in entries if not entry.startswith((origin, "data:"))]


def set_theme(page: Page, theme: str) -> None:
    features = [{"name": "prefers-color-scheme", "value": theme}]
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


@contextmanager
def window(page: Page, width: int) -> Iterator[None]:
    """Show pages in a window of another width, the smallest as a phone does."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width == PHONE_WIDTH}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    yield
    page.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def problems_at(page: Page, width: int) -> list[str]:
    """Return how wide the page is if it is too wide, and which lists have something outside of their frame."""
    with window(page, width):
        page_width: int = page.driver.execute_script("return document.documentElement.scrollWidth")
        lists: list[str] = page.driver.execute_script(CUT_LISTS)
    problems = [f"cuts {name} at {width} pixels" for name in lists]
    return [*problems, f"is {page_width} pixels wide at {width}"] if page_width > width else problems


def test_a_long_name_leaves_room_for_figures(page: Page, sample_workspace: SampleWorkspace) -> None:
    for path in ("/operations", "/interactions", "/sessions"):
        page.driver.get(sample_workspace.url + path)
        assert page.driver.execute_script(WIDEST_NAME) < MAX_NAME_WIDTH, path


def test_a_phone_folds_the_navigation_under_the_name_of_the_page(page: Page) -> None:
    with window(page, PHONE_WIDTH):
        assert page.texts(".menu") == ["Menu: Home"]
        assert set(page.texts(".side a")) == {""}
        page.driver.find_element(By.CSS_SELECTOR, ".menu summary").click()
        page.follow("Audit")
        page.wait_for("h1", "Audit")
        assert page.texts(".menu") == ["Menu: Audit"]


def test_instants_are_in_the_reader_s_zone_and_written_alike(page: Page, sample_workspace: SampleWorkspace) -> None:
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Kolkata"})
    page.driver.execute_cdp_cmd("Emulation.setLocaleOverride", {"locale": "de-DE"})
    page.driver.get(sample_workspace.url + "/interactions")
    moments = page.driver.find_elements(By.CSS_SELECTOR, "td time")
    instants = [datetime.fromisoformat(moment.get_attribute("datetime") or "") for moment in moments]
    there = [instant + timedelta(hours=5, minutes=30) for instant in instants]
    assert [moment.text for moment in moments] == [f"{instant:%-d %b, %H:%M}" for instant in there]
    titles = [moment.get_attribute("title") for moment in moments]
    assert titles == [f"{instant:%Y-%m-%d %H:%M:%S} UTC" for instant in instants]
    page.driver.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})
    page.driver.execute_cdp_cmd("Emulation.setLocaleOverride", {})


def test_every_page_is_accessible_quiet_and_fits_its_window(page: Page, sample_workspace: SampleWorkspace) -> None:
    page.driver.get_log("browser")
    problems, visited = [], 0
    for address in addresses(page, sample_workspace.url):
        visited += 1
        set_theme(page, "light")
        problems += [f"{address}: {violation}" for violation in violations(page)]
        set_theme(page, "dark")
        problems += [f"{address}, dark: {violation}" for violation in violations(page, "color-contrast")]
        problems += [f"{address}: asks {entry}" for entry in foreign_requests(page, sample_workspace.url)]
        problems += [f"{address}: {entry['message']}" for entry in page.driver.get_log("browser")]
        cells = page.driver.execute_script(OVERFLOWING_CELLS)
        problems += [f"{address}: the cell of {cell} is too narrow" for cell in cells]
        problems += [f"{address}: {problem}" for width in WIDTHS for problem in problems_at(page, width)]
    assert problems == []
    assert visited > 20
