"""How long the dashboard's pages take on a large environment: `python -m bench.pages`.

Every page of the navigation, the first detail that each links to, and lists with filters that match much and nothing.
"""

import argparse
import re
import statistics
import tempfile
import time
import urllib.request
from html import unescape
from pathlib import Path

from bench.growth.history import fill
from bench.growth.site import Site, running_site

TARGET_MS = 200
DAYS = 90
REPEATS = 40
WARM_UP_REQUESTS = 20
FILTERED_PATHS = (
    "/feedback?q=order",
    "/feedback?q=nothing-like-this",
    "/feedback?q=order&outcome=failure",
    "/feedback?outcome=failure&operation=/orders/:id/step-10",
    "/feedback?operation=/no/such/operation",
    "/feedback?triage=resolved",
    "/interactions?operation=/orders/:id/step-3",
    "/interactions?operation=/no/such/operation",
    "/interactions?classification=confirmed&surface=mcp",
    "/operations?sort=worst",
    "/personalization?purpose=targeted_advertising",
)


def main() -> None:
    """Fill a service and measure every page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--interactions", type=int, default=2_000_000, help="a tenth of them has a review")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running_site(Path(folder) / "site") as site:
        fill(site, arguments.interactions)
        print(f"{'page':<78}{'p50':>10}{'p95':>10}{'target':>10}")
        # Each thread of the web processes connects and compiles its templates once.
        for _ in range(WARM_UP_REQUESTS):
            _get(site, "/")
        for path in _paths(site):
            p50_ms, p95_ms = _measure(site, path)
            print(f"{_name(path):<78}{p50_ms:>7.1f} ms{p95_ms:>7.1f} ms{f'<={TARGET_MS} ms':>10}", flush=True)


def _paths(site: Site) -> list[str]:
    """Return the pages of the navigation, one detail of each, and the filtered lists."""
    side = _get(site, f"/?days={DAYS}").partition('<nav class="side"')[2].partition("Reference</p>")[0]
    sections = _links(side)
    paths = []
    for section in sections:
        root = section.partition("?")[0]
        details = [path for path in _links(_get(site, section).partition("<main")[2]) if _is_detail(path, root)]
        paths += [section, *details[:1]]
    return paths + [f"{path}&days={DAYS}" for path in FILTERED_PATHS]


def _is_detail(path: str, root: str) -> bool:
    return root != "/" and path.startswith(f"{root}/") and "/export." not in path


def _links(text: str) -> list[str]:
    return [unescape(path) for path in re.findall(r'href="([^"#]+)"', text)]


def _measure(site: Site, path: str) -> tuple[float, float]:
    """Return the median and the 95th percentile of the milliseconds of a page, from one client."""
    _get(site, path)
    durations = []
    for _ in range(REPEATS):
        started_at = time.perf_counter()
        _get(site, path)
        durations.append((time.perf_counter() - started_at) * 1e3)
    return statistics.median(durations), statistics.quantiles(durations, n=20)[-1]


def _get(site: Site, path: str) -> str:
    headers = {"Cookie": site.cookie, "Accept": "text/html"}
    request = urllib.request.Request(site.stack.url + path, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        text: str = response.read().decode()
    return text


def _name(path: str) -> str:
    """Return a path without the scope that all have."""
    name = re.sub(r"environment=[0-9a-f-]+&?|days=\d+&?", "", path)
    return re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "<id>", name).rstrip("?&")


if __name__ == "__main__":
    main()
