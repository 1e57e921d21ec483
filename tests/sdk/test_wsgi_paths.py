"""Which paths of a product the adapter extends."""

import pytest

from tests.sdk.site import App, Client, fetch, fetch_both, make_app


@pytest.mark.parametrize(
    "path",
    [
        "/health",
        "/healthz",
        "/readyz",
        "/metrics",
        "/favicon.ico",
        "/robots.txt",
        "/_service/v1/a",
        "/_agent-feedback/x",
    ],
)
def test_some_paths_are_always_excluded(path: str) -> None:
    plain, response = fetch_both(make_app(), Client(), path)
    assert response == plain


@pytest.mark.parametrize(
    ("path", "is_extended"),
    [
        ("/api/a", True),
        ("/api/a/b", False),
        ("/deep/a/b/c", True),
        ("/deep/private/a", False),
        ("/deep/a\nb", True),
        ("/deep/private/a\nb", False),
        ("/api", False),
        ("/apix", False),
        ("/exact.json", True),
        ("/exactxjson", False),
    ],
)
def test_patterns_choose_the_paths(path: str, is_extended: bool) -> None:
    feedback = Client(include=["/api/*", "/deep/**", "/exact.json"], exclude=["/deep/private/**"])
    assert fetch(feedback.wsgi(make_app()), path).has_envelope == is_extended


@pytest.mark.parametrize("path", ["/a", "/", ""])
def test_without_a_pattern_no_path_is_extended(path: str) -> None:
    plain, response = fetch_both(make_app(), Client(include=[]), path)
    assert response == plain


def test_the_mount_point_belongs_to_the_path() -> None:
    app: App = Client(include=["/mounted/a"]).wsgi(make_app())
    assert fetch(app, "/a", SCRIPT_NAME="/mounted").has_envelope
