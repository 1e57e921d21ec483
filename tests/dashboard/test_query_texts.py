"""Control characters in the addresses of pages, which PostgreSQL or the rules of the wire refuse in every text."""

import inspect
import re
import sys
from collections import defaultdict

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.blueprints import PAGE_MOUNTS
from app.dashboard.lists import AFTER, FilterForm
from tests.reading.fixtures import Reader

NUL = "\0x"


def parameters(app: Flask) -> dict[str, set[str]]:
    """Return the query parameters that the modules of each blueprint of pages know."""
    names: defaultdict[str, set[str]] = defaultdict(set)
    for rule in app.url_map.iter_rules():
        blueprint = rule.endpoint.partition(".")[0]
        module = sys.modules[inspect.unwrap(app.view_functions[rule.endpoint]).__module__]
        names[blueprint] |= set(re.findall(r'request\.args\.get\("(\w+)"', inspect.getsource(module)))
        names[blueprint] |= {
            name
            for form in vars(module).values()
            if isinstance(form, type) and issubclass(form, FilterForm)
            for name in form()._fields
        }
    return names


def addresses(app: Flask, id_: str) -> list[tuple[str, str]]:
    """Return each path of a page that is read, with one id in its places, and each parameter that it knows."""
    names = parameters(app)
    return [
        (re.sub(r"<uuid:\w+>", id_, re.sub(r"<any\(csv,ndjson\):\w+>", "csv", rule.rule)), name)
        for mount in PAGE_MOUNTS
        for rule in app.url_map.iter_rules()
        if rule.endpoint.startswith(f"{mount.blueprint.name}.") and "GET" in (rule.methods or ())
        for name in sorted({AFTER, *names[mount.blueprint.name]})
    ]


def test_nul_in_no_parameter_of_a_page_is_a_server_error(app: Flask, signed_in: FlaskClient, reader: Reader) -> None:
    cases = addresses(app, str(reader.store_review()))
    assert {("/sessions/one", "ref"), ("/feedback/export.csv", "q"), ("/operations/operation", "name")} <= set(cases)
    statuses = {case: signed_in.get(case[0], query_string={case[1]: NUL}).status_code for case in cases}
    assert {case: status for case, status in statuses.items() if status >= 500 or status == 429} == {}


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/feedback", "q"),
        ("/feedback", "topic"),
        ("/interactions", "customer_ref"),
        ("/sessions", "ref"),
        ("/personalization", "baseline"),
        ("/audit", "action"),
        ("/operations", "operation"),
    ],
)
@pytest.mark.parametrize("character", ["\0", "\x07", "\x85"])
def test_a_text_with_a_control_character_is_refused_by_its_name(
    signed_in: FlaskClient, path: str, name: str, character: str
) -> None:
    for address in (path, f"{path}/export.csv", f"{path}/export.ndjson"):
        answer = signed_in.get(address, query_string={name: f"a{character}b"})
        assert answer.status_code == 422
        assert f"{name}: Control characters" in answer.text


@pytest.mark.parametrize("name", ["ref", "source", "customer_ref"])
def test_a_session_that_no_text_can_name_is_not_there(signed_in: FlaskClient, reader: Reader, name: str) -> None:
    reader.store_session()
    key = {"ref": "visit_1", "source": "customer", "customer_ref": ""}
    assert signed_in.get("/sessions/one", query_string=key).status_code == 200
    for path in ("/sessions/one", "/sessions/one/export.csv"):
        assert signed_in.get(path, query_string={**key, name: NUL}).status_code == 404


@pytest.mark.parametrize("kind", ["other", "%00", "review%00"])
def test_feedback_of_an_unknown_kind_is_not_there(signed_in: FlaskClient, reader: Reader, kind: str) -> None:
    interaction_id = reader.store_review()
    assert signed_in.get(f"/feedback/{kind}/{interaction_id}").status_code == 404
