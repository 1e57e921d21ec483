"""What the ASGI adapter reads from a scope."""

import pytest
from agent_feedback.adapters.asgi import AsgiRequest

from tests.sdk.adapters import make_client
from tests.sdk.asgi_site import fetch_asgi, make_asgi_app, make_scope
from tests.sdk.site import Client


@pytest.fixture
def feedback() -> Client:
    return make_client()


@pytest.mark.parametrize(
    ("path", "root_path", "expected"),
    [
        ("/shop/orders/1", "/shop", "/shop/orders/:id"),
        ("/orders/1", "/shop", "/shop/orders/:id"),
        ("/orders/1", "/shop/", "/shop/orders/:id"),
        ("/shopping", "/shop", "/shop/shopping"),
        ("/shop", "/shop", "/shop"),
        ("/é", "", "/%C3%A9"),
    ],
)
def test_the_operation_has_the_mount_once(feedback: Client, path: str, root_path: str, expected: str) -> None:
    fetch_asgi(feedback.asgi(make_asgi_app()), path, root_path=root_path)
    assert feedback.events[0]["operation"] == expected


def test_paths_are_included_with_the_mount() -> None:
    feedback = make_client(include=["/shop/*"])
    for root_path in ("", "/shop"):
        assert fetch_asgi(feedback.asgi(make_asgi_app()), "/shop/a", root_path=root_path).response.has_envelope
    assert fetch_asgi(feedback.asgi(make_asgi_app()), "/a", root_path="/shop").response.has_envelope
    assert not fetch_asgi(feedback.asgi(make_asgi_app()), "/a").response.has_envelope


@pytest.mark.parametrize(
    ("raw_path", "expected"),
    [
        (b"/%6Frders/a%2Fb", "/%6Frders/a%2Fb?q=%C3%A9"),
        (None, "/orders/a/%C3%A9?q=%C3%A9"),
        (b"*", "/orders/a/%C3%A9?q=%C3%A9"),
    ],
)
def test_the_target_is_that_of_the_request_line(raw_path: bytes | None, expected: str) -> None:
    scope = make_scope("/orders/a/é", raw_path=raw_path, query_string=b"q=%C3%A9")
    assert AsgiRequest(scope).target == expected


def test_a_repeated_header_is_one_with_both_values() -> None:
    scope = make_scope(headers={}) | {"headers": [(b"accept", b"a"), (b"host", b"h"), (b"accept", b"\xe9")]}
    assert AsgiRequest(scope).header("accept") == "a, \xe9"
    assert AsgiRequest(scope).header("cookie") is None
