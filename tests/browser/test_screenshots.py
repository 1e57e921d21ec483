"""The README's screenshots are those that the command makes."""

import re

from tests.browser.screenshots import FOLDER, SCREENSHOTS
from tests.conftest import ROOT


def test_the_readme_shows_the_screenshots_that_the_command_makes() -> None:
    names = {screenshot.name for screenshot in SCREENSHOTS}
    assert {path.stem for path in FOLDER.glob("*")} == names
    shown = re.findall(r"\(docs/screenshots/([\w-]+)\.png\)", (ROOT / "README.md").read_text())
    shown += re.findall(r"\(screenshots/([\w-]+)\.png\)", (ROOT / "docs" / "dashboard.md").read_text())
    assert set(shown) == names
