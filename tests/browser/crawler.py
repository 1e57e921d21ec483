"""Opening one page of each kind that the links of the dashboard lead to."""

import re
from collections.abc import Iterator

from tests.browser.conftest import Page

MAX_PAGES = 60
LINKS = "return [...document.links].map((link) => link.href)"
_ID = re.compile(r"[0-9a-f]{8,}[0-9a-f-]*|customer_\w+|(?<=/fields/)[^/]+")
_NO_PAGE = re.compile(r"/(docs|playground|\.well-known|sdk|openapi|llms)|.*/export\.|.*#")


def pattern_of(path: str) -> str:
    """Return an address without its ids and parameters, of which one example is enough."""
    return _ID.sub("<id>", path.partition("?")[0])


def addresses(page: Page, origin: str, *first_paths: str) -> Iterator[str]:
    """Open the first paths, and pages from Home on; return their addresses."""
    waiting = [origin + path for path in (*first_paths, "/", "/account", "/components")]
    patterns: set[str] = set()
    visits = 0
    while waiting and visits < MAX_PAGES:
        address = waiting.pop(0)
        if pattern_of(address) in patterns and visits >= len(first_paths):
            continue
        visits += 1
        patterns.add(pattern_of(address))
        page.driver.get(address)
        yield address
        links: list[str] = page.driver.execute_script(LINKS)
        waiting += [link for link in links if link.startswith(origin) and _is_page(link.removeprefix(origin))]


def _is_page(path: str) -> bool:
    return not _NO_PAGE.match(path)
