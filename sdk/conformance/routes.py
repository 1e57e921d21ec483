"""Routes of the products, as the programs read them."""

import base64
from typing import Any

JSON = "application/json"
HTML = "text/html; charset=utf-8"

Route = dict[str, Any]


def route(path: str, body: str | bytes | None = '{"a":1}', content_type: str | None = JSON, **members: Any) -> Route:
    """Return a route: GET with status 200 and JSON, unless told otherwise."""
    headers = [["Content-Type", content_type]] if content_type else []
    headers += members.pop("headers", [])
    entry: Route = {"method": "GET", "path": path, "status": 200, "headers": headers, **members}
    if isinstance(body, bytes):
        entry["bodyBase64"] = base64.b64encode(body).decode()
    elif body is not None and "chunks" not in entry:
        entry["body"] = body
    return entry


def case_body(case: dict[str, Any]) -> bytes:
    """Return the body of a vector's case."""
    given = case["input"]
    return (
        base64.b64decode(given["bodyBase64"])
        if "bodyBase64" in given
        else given["body"].encode("utf-8", "surrogatepass")
    )
