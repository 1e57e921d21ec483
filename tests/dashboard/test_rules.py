"""Safe redirects and the labels of modes."""

import pytest

from app.dashboard.rules import MODE_LABELS, local_path
from app.products.rules import Mode


@pytest.mark.parametrize("path", ["/", "/playground", "/products?id=1&name=a%20b", "/a//b", "/a;b=[1]~!"])
def test_a_path_of_this_service_stays_as_it_is(path: str) -> None:
    assert local_path(path) == path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "playground",
        "https://evil.example",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/\n/evil.example",
        "\t//evil.example",
        " //evil.example",
        "/a\\b",
        "/a\r\nSet-Cookie: x",
        "/é",
        "javascript:alert(1)",
        "/" + "a" * 2000,
    ],
)
def test_anything_else_becomes_the_home_page(text: str) -> None:
    assert local_path(text) == "/"


def test_every_mode_has_a_label() -> None:
    assert set(MODE_LABELS) == set(Mode)
