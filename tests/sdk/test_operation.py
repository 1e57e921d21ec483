"""The operation of an event is one that the service takes, whoever names it."""

import logging
import uuid

import pytest
from agent_feedback.operation import normalize_named_operation, normalize_operation

from tests.sdk.site import Client, fetch, make_app

ID = "018f1f2e-7b4a-7c12-9c8d-123456789abc"


@pytest.mark.parametrize(
    ("path", "operation"),
    [
        ("/orders/12", "/orders/:id"),
        (f"/runs/{ID.upper()}/steps", "/runs/:id/steps"),
        ("/search?q=a", "/search"),
        ("/users/someone@example.com", "/users/:id"),
        ("/users/someone%40example.com", "/users/:id"),
        ("/users/Some One", "/users/:id"),
        ("/files/a\tb", "/files/:id"),
        ("/caf\u00e9", "/caf%C3%A9"),
        ("", "/"),
        ("12/a", ":id/a"),
        ("/a/1/2/", "/a/:id/:id/"),
        (f"/{ID}/{ID}", "/:id/:id"),
        (f"/x{ID}/{ID}x/12a/a12/1.5", f"/x{ID}/{ID}x/12a/a12/1.5"),
        (f"/{ID}/a%20b/12#3", "/:id/:id/:id"),
        ("/a/\u0661\u0662", "/a/%D9%A1%D9%A2"),
    ],
)
def test_a_path_is_normalized(path: str, operation: str) -> None:
    assert normalize_operation(path) == operation


@pytest.mark.parametrize("path", ["/a b@c", "/é/ü", "/%zz", "/x" * 200, "", "/tab\there", "/#x", "/\N{SNOWMAN}"])
def test_an_operation_holds_nothing_that_the_service_refuses(path: str) -> None:
    operation = normalize_operation(path)
    assert 1 <= len(operation) <= 160
    assert operation.isascii()
    assert operation.isprintable()
    assert not set(operation) & set(" ?#@")


def test_an_operation_is_cut_at_160_characters() -> None:
    assert normalize_operation("/" + "x" * 300) == "/" + "x" * 159


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("orders.list", "orders.list"),
        (f"/orders/12/{uuid.UUID(ID)}?a=1", "/orders/:id/:id"),
        ("x" * 300, "x" * 160),
        ("list orders", None),
        ("orders@shop", None),
        ("orders%40shop", None),
        ("orders\u2028list", None),
        ("orders\x00", None),
        ("", None),
        ("?a=1", None),
        (42, None),
    ],
)
def test_a_named_operation_is_normalized_or_none(name: object, operation: str | None) -> None:
    assert normalize_named_operation(name) == operation


@pytest.mark.parametrize(
    ("name", "operation"), [("orders.show/7", "orders.show/:id"), ("show order", "/orders/:id"), (None, "/orders/:id")]
)
def test_a_callback_that_names_an_unusable_operation_falls_back_to_the_path(
    name: str | None, operation: str, caplog: pytest.LogCaptureFixture
) -> None:
    feedback = Client(operation=lambda environ: name)
    app = feedback.wsgi(make_app())
    fetch(app, "/orders/12")
    fetch(app, "/orders/13")
    assert [event["operation"] for event in feedback.events] == [operation] * 2
    assert len(caplog.records) == (name == "show order")
    assert all(record.levelno == logging.WARNING for record in caplog.records)
