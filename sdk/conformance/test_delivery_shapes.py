"""Where the envelope goes: into JSON objects and HTML as text, else into a header; and what else changes with it."""

import json
from typing import Any

import pytest

from conformance import envelopes
from conformance.conftest import Launch
from conformance.processes import Product
from conformance.protocol import CONTRACT, vectors
from conformance.routes import HTML, case_body, route
from conformance.wire import Response

ELEMENT_ID = CONTRACT["html"]["envelopeId"]
HEADER = CONTRACT["headers"]["envelope"]

SPLICES = vectors("json_splice")
PAGES = [case for case in vectors("html_insert") if case["input"]["elementId"] == ELEMENT_ID]

VALUES = {"array": "[1, 2.50]\n", "number": " 1e400 ", "text": '"a"', "null": "null", "true": "true", "empty": "[]"}

OLD_HEADERS = [
    ["ETag", '"abc"'],
    ["Digest", "sha-256=abc"],
    ["Content-Digest", "sha-256=:abc=:"],
    ["Repr-Digest", "sha-256=:abc=:"],
    ["Content-MD5", "abc"],
    ["Accept-Ranges", "bytes"],
    ["Cache-Control", "private, max-age=60"],
    ["Set-Cookie", "a=1"],
    ["Set-Cookie", "b=2"],
    ["X-Own", "kept"],
    ["Link", '</style.css>; rel="preload"'],
    ["Vary", "Accept"],
]
BODY_HEADERS = ("ETag", "Digest", "Content-Digest", "Repr-Digest", "Content-MD5", "Accept-Ranges")

ROUTES = [
    *(route(f"/json/{number}", case_body(case)) for number, case in enumerate(SPLICES)),
    *(route(f"/html/{number}", case_body(case), HTML) for number, case in enumerate(PAGES)),
    *(route(f"/value/{name}", body) for name, body in VALUES.items()),
    route("/headers", '{"a":1}', headers=OLD_HEADERS, status=201),
    route("/headers-html", "<p>a", HTML, headers=OLD_HEADERS),
    route("/headers-array", "[1]", headers=OLD_HEADERS),
    route("/page-with-id", f'<p id="{ELEMENT_ID}">', HTML, headers=OLD_HEADERS),
    route("/long", "[1]"),
]


@pytest.fixture
def product(launch: Launch) -> Product:
    return launch(ROUTES)


def split_at(expected: str, marker: str) -> tuple[bytes, bytes]:
    """Return what is before and after the place of the inserted text."""
    head, _, tail = expected.partition(marker)
    return head.encode("utf-8", "surrogatepass"), tail.encode("utf-8", "surrogatepass")


def require_only_insertion(response: Response, expectations: list[str], marker: str, *, is_html: bool) -> str:
    """Fail unless the body is one of the expected texts with something at the place of the marker; return that."""
    for expectation in expectations:
        head, tail = split_at(expectation, marker)
        if response.body.startswith(head) and response.body.endswith(tail):
            inserted = response.body[len(head) : len(response.body) - len(tail)].decode()
            assert json.loads(inserted)["v"] == 1
            assert not is_html or "<" not in inserted
            return inserted
    raise AssertionError(f"other bytes have changed: {response.body!r}")


@pytest.mark.parametrize("number", range(len(SPLICES)), ids=[case["name"][:60] for case in SPLICES])
def test_json(product: Product, number: int) -> None:
    case = SPLICES[number]
    body, response = case_body(case), product.get(f"/json/{number}")
    allowed = [case["expected"], *case.get("alsoAllowed", [])]
    assert response.value("Content-Length") == str(len(response.body))
    if response.body == body:
        assert None in allowed
        return
    texts = [text for text in allowed if text is not None]
    require_only_insertion(response, texts, case["input"]["json"], is_html=False)
    assert response.value("Cache-Control") == CONTRACT["eligibility"]["cacheControl"]


@pytest.mark.parametrize("number", range(len(PAGES)), ids=[case["name"][:60] for case in PAGES])
def test_html(product: Product, number: int) -> None:
    case = PAGES[number]
    body, response = case_body(case), product.get(f"/html/{number}")
    assert response.value("Content-Length") == str(len(response.body))
    if case["expected"] is None:
        assert response.body == body
        has_id = case["name"].startswith("left alone: the id is there")
        assert bool(response.all(HEADER)) == has_id, "only a page with the id falls back to the header"
        return
    marker = case["input"]["json"].replace("<", "\\u003c")
    require_only_insertion(response, [case["expected"]], marker, is_html=True)
    assert not response.all(HEADER)


@pytest.mark.parametrize("name", VALUES)
def test_arrays_and_scalars_get_the_header(product: Product, name: str) -> None:
    response = product.get(f"/value/{name}")
    assert response.body == VALUES[name].encode()
    envelopes.check(envelopes.get(response), "never_ask", product.recorder.url)
    text = response.value(HEADER)
    assert text
    assert len(text) <= CONTRACT["headers"]["maxEnvelopeBytes"]


@pytest.mark.parametrize("path", ["/headers", "/headers-html", "/headers-array", "/page-with-id"])
def test_the_envelope_is_whole_in_every_shape(product: Product, path: str) -> None:
    envelopes.check(envelopes.get(product.get(path)), "never_ask", product.recorder.url)


@pytest.mark.parametrize("path", ["/headers", "/headers-html", "/headers-array", "/page-with-id"])
def test_headers_that_every_envelope_brings(product: Product, path: str) -> None:
    response = product.get(path)
    link = CONTRACT["headers"]["discoveryLink"].replace("{endpoint}", product.recorder.url)
    assert link in ", ".join(response.all("Link"))
    assert '</style.css>; rel="preload"' in ", ".join(response.all("Link"))
    assert response.value("Cache-Control") == CONTRACT["eligibility"]["cacheControl"]
    assert response.all("Set-Cookie") == ["a=1", "b=2"]
    assert (response.value("X-Own"), response.value("Vary")) == ("kept", "Accept")
    assert response.status == (201 if path == "/headers" else 200)


@pytest.mark.parametrize("path", ["/headers", "/headers-html"])
@pytest.mark.parametrize("name", BODY_HEADERS)
def test_headers_about_the_old_body_are_dropped(product: Product, path: str, name: str) -> None:
    assert product.get(path).all(name) == []


@pytest.mark.parametrize("path", ["/headers-array", "/page-with-id"])
def test_headers_about_the_body_stay_with_the_header_alone(product: Product, path: str) -> None:
    response = product.get(path)
    old_headers: dict[str, Any] = {name: value for name, value in OLD_HEADERS if name in BODY_HEADERS}
    assert {name: response.value(name) for name in old_headers} == old_headers


def test_each_response_has_an_interaction_of_its_own(product: Product) -> None:
    claims = [
        envelopes.check(envelopes.get(product.get("/headers")), "never_ask", product.recorder.url) for _ in range(5)
    ]
    assert len({claim["i"] for claim in claims}) == len({claim["n"] for claim in claims}) == 5


def test_an_envelope_that_is_too_long_for_the_header_is_left_out(launch: Launch) -> None:
    product = launch(ROUTES, mode="ask_once", customerRef="X-Customer", serviceName="Service " * 1000)
    response = product.get("/long", X_Customer="one")
    assert (response.body, envelopes.find(response), response.all("Link")) == (b"[1]", None, [])
    assert envelopes.get(product.get("/headers", X_Customer="one")), "a body takes it"


def test_nothing_of_the_envelope_ends_its_element(launch: Launch) -> None:
    name = "<b></script><!-- <script> &lt; \u2028"
    product = launch(ROUTES, mode="ask_once", customerRef="X-Customer", serviceName=name)
    response = product.get("/headers-html", X_Customer="one")
    (content,) = envelopes.ELEMENT.findall(response.body)
    assert b"<" not in content
    envelopes.check(json.loads(content), "ask_once_unknown", product.recorder.url, service_name=name)


def test_the_compact_envelope_is_small(product: Product) -> None:
    text = json.dumps(envelopes.get(product.get("/headers")), separators=(",", ":"), ensure_ascii=False)
    urls = text.count(product.recorder.url)
    assert len(text.encode()) + urls * (60 - len(product.recorder.url)) < 2048
