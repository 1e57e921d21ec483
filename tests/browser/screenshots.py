"""Make the README's screenshots anew: `python -m tests.browser.screenshots`.

It starts the service with a workspace of sample data and takes pictures of the pages below.
"""

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from selenium.webdriver import Chrome, ChromeService

from tests.browser.conftest import Page, chrome_options, seed_sample_workspace
from tests.conftest import ROOT
from tests.journeys.stack import running_stack

FOLDER = ROOT / "docs" / "screenshots"


class Screenshot(NamedTuple):
    """A picture of the upper part of a page."""

    name: str
    path: str
    theme: str = "light"
    height: int = 860


SCREENSHOTS = (
    Screenshot("home", "/"),
    Screenshot("feedback", "/feedback"),
    Screenshot("operations", "/operations?sort=worst", theme="dark"),
    Screenshot("questions", "/questions"),
    Screenshot("ai-traffic", "/ai-traffic", theme="dark"),
)
WIDTH = 1200


def main() -> None:
    """Take every screenshot."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_stack(Path(folder)) as stack:
        workspace = seed_sample_workspace(stack)
        options = chrome_options()
        options.add_argument("--hide-scrollbars")
        driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
        try:
            Page(driver).sign_in(workspace.url, workspace.email, workspace.password)
            for screenshot in SCREENSHOTS:
                take(driver, workspace.url, screenshot)
        finally:
            driver.quit()


def take(driver: Chrome, url: str, screenshot: Screenshot) -> None:
    size = {"width": WIDTH, "height": screenshot.height, "deviceScaleFactor": 1, "mobile": False}
    features = [{"name": "prefers-color-scheme", "value": screenshot.theme}]
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    driver.get(url + screenshot.path)
    driver.save_screenshot(str(FOLDER / f"{screenshot.name}.png"))


if __name__ == "__main__":
    main()
