"""Routes of a product that asks for customer context, and what its responses show."""

import json
import re
from typing import Any

from conformance.processes import Product
from conformance.protocol import COMPANY_KEY, CONTRACT, PATHS, validate
from conformance.routes import HTML, route
from conformance.wire import Response

ASKING, RETRIEVING = PATHS["enrichment"], PATHS["context"]
PERSONALIZATION, ADVERTISING = "product_personalization", "targeted_advertising"
RETRY_HEADER = CONTRACT["headers"]["contextInteraction"]
SERVICE, ACTION = CONTRACT["members"]["service"], CONTRACT["members"]["customerContext"]
ELEMENT = re.compile(
    rb'<script id="%b" type="application/json">(.*?)</script>' % CONTRACT["html"]["contextId"].encode(), re.DOTALL
)
USER = {"X-User": "user_42"}


def ask(purpose: str = PERSONALIZATION, **members: Any) -> dict[str, Any]:
    """Return the member of a route that asks for context."""
    return {"ask": {"purpose": purpose, "fieldKeys": ["shopping.priority"], "remember": False, **members}}


def known(purpose: str = PERSONALIZATION, **members: Any) -> dict[str, Any]:
    """Return the member of a route that shows what is known."""
    return {"context": {"purpose": purpose, **members}}


ROUTES = [
    route("/plain"),
    route("/anonymous", **ask()),
    route("/items/12", **ask()),
    route("/items/12", method="POST", **ask()),
    route("/customer", **ask(userRef="X-User", remember=True)),
    route("/page", "<html><head></head><body>a", HTML, **ask()),
    route("/array", "[1]", **ask()),
    route("/error", status=404, **ask()),
    route("/advertising", **ask(ADVERTISING)),
    route("/own", f'{{"{SERVICE}":1}}', **ask()),
    route("/known", **known(userRef="X-User")),
    route("/known-here", **known(), **ask()),
    route("/known-advertising", **known(ADVERTISING, userRef="X-User")),
    route("/cached", headers=[["Cache-Control", "public, max-age=60"]], **known()),
]


OPTIONS: dict[str, Any] = {
    "companyKey": COMPANY_KEY,
    "contextTimeout": 3000,
    "sessionRef": "X-Session",
    "runtimeHint": "X-Hint",
    "flushInterval": 60_000,
}


def action_of(response: Response) -> dict[str, Any] | None:
    """Return the context action of a response, if it has one."""
    if "html" in (response.value("Content-Type") or ""):
        actions = [json.loads(text)[ACTION] for text in ELEMENT.findall(response.body)]
        assert len(actions) < 2
        return actions[0] if actions else None
    content = response.json()
    member = content.get(SERVICE) if isinstance(content, dict) else None
    return member[ACTION] if isinstance(member, dict) else None


def asked(product: Product) -> dict[str, Any]:
    """Return the body of the one enrichment request."""
    (request,) = product.recorder.of(ASKING)
    assert (request.method, request.headers["authorization"]) == ("POST", f"Bearer {COMPANY_KEY}")
    validate("enrichment-request", request.content)
    return dict(request.content)


def with_underscores(headers: dict[str, str]) -> dict[str, str]:
    """Return headers as the arguments of a call."""
    return {name.replace("-", "_"): value for name, value in headers.items()}
